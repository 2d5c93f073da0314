"""Concrete streams made short: what random data and long runs found, in as few events as it takes.

The letters of the alphabet can be made anew after each deletion; concrete events cannot, so they
are shortened by their links to each other, as the log of a real run is. The work is bounded: a
fault that needs a thousand events is shown with a thousand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from doneness.generators.classify import moves
from doneness.generators.divergence import Divergence, compare, compare_at_end, was_not_run
from doneness.generators.log_shrink import Link, Shrinking, StillShows, links, rewritten
from doneness.generators.still_shows import GivenUpError, differs
from doneness.generators.subject import Subject

EVENTS_MAX: Final = 100_000
"""How many events may be fed to find a shorter stream."""


def shortest(subject: Subject, found: Divergence, events_max: int = EVENTS_MAX) -> Divergence:
    """A divergence of the same subject, by part of the stream of the one that was found."""
    run, given = found.run, [line.move for line in found.lines]
    log = links(run, [move.event for move in given])
    shows = differs(subject, run)
    search = Shrinking(run, log, shows)
    fed = 0
    try:
        search.kept = _pair(run, log, shows) or search.kept
        for left in search.steps():
            fed += left
            if fed > events_max:
                break
    except GivenUpError:  # what was reached until then is short enough
        pass
    fewer = moves(run, search.best)
    if len(fewer) == len(search.kept):
        names = [given[place].name for place in search.kept]
        fewer = [replace(move, name=name) for move, name in zip(fewer, names, strict=True)]
    shorter = compare(subject, found.check, run, fewer)
    shorter = shorter or compare_at_end(subject, found.check, run, fewer)
    if shorter is None or len(shorter.lines) > len(found.lines):
        return found
    return found if was_not_run(shorter.lines[-1].shown.get("failure")) else shorter


def _pair(run: str, log: list[Link], shows: StillShows) -> list[int] | None:
    """The last event with one before it, if these two show it: ids that are taken for the same.

    Of a thousand events, leaving out half and half again finds such a pair late or never.
    """
    last = len(log) - 1
    pairs = ([place, last] for place in range(last) if last > 1)
    return next((pair for pair in pairs if shows(rewritten(run, log, pair))), None)
