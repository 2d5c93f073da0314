"""Concrete streams made short: what random data and long runs found, in as few events as it takes.

The letters of the alphabet can be made anew after each deletion; concrete events cannot, so they
are shortened by their links to each other, as the log of a real run is. The work is bounded: a
fault that needs a thousand events is shown with a thousand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from doneness.generators.classify import moves
from doneness.generators.divergence import Divergence, compare
from doneness.generators.log_shrink import Shrinking, links
from doneness.generators.still_shows import differs
from doneness.generators.subject import Subject

EVENTS_MAX: Final = 100_000
"""How many events may be fed to find a shorter stream."""


def shortest(subject: Subject, found: Divergence, events_max: int = EVENTS_MAX) -> Divergence:
    """A divergence of the same subject, by part of the stream of the one that was found."""
    run, given = found.run, [line.move for line in found.lines]
    log = links(run, [move.event for move in given])
    search = Shrinking(run, log, differs(subject, run))
    fed = 0
    for left in search.steps():
        fed += left
        if fed > events_max:
            break
    fewer = moves(run, search.best)
    if len(fewer) == len(search.kept):
        names = [given[place].name for place in search.kept]
        fewer = [replace(move, name=name) for move, name in zip(fewer, names, strict=True)]
    shorter = compare(subject, found.check, run, fewer)
    return found if shorter is None or len(shorter.lines) > len(found.lines) else shorter
