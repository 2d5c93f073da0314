"""Short streams for what exploration holds equal: whatever a program takes for something else.

Exploration tries every letter in every state, but few letters, and follows only one of two traces
that the declaration holds equal. These streams are the other way round: few states, and in them
every name beside one it is confused with, every way to be no payload and no envelope, every sort
of repeat and of stray event, and what comes *behind* an event that changes nothing. Each is a few
events long, so what it finds is short.

A family is a name and the streams, each a run and its letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from doneness.generators.checks.stream_counts import few_times, plenty
from doneness.generators.checks.stream_forms import bad_payloads, malformed, not_json, unknown_kinds
from doneness.generators.checks.stream_history import (
    behind,
    contents,
    everything_again,
    numbers,
    repeats,
    strays,
)
from doneness.generators.checks.stream_names import digests, names, runs, texts
from doneness.generators.checks.stream_parts import Stream
from doneness.generators.divergence import Divergence, first_in, seen_once, shrink
from doneness.generators.exploration import agrees
from doneness.generators.haste import PATIENT, Haste
from doneness.generators.moves import Template, play
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Subject

FAMILIES: Final[Mapping[str, Callable[[], Iterator[Stream]]]] = {
    "names": names,
    "runs": runs,
    "texts": texts,
    "digests": digests,
    "payloads": bad_payloads,
    "kinds": unknown_kinds,
    "envelopes": malformed,
    "not JSON": not_json,
    "numbers": numbers,
    "repeats": repeats,
    "contents": contents,
    "few times": few_times,
    "plenty": plenty,
    "strays": strays,
    "behind": behind,
    "everything again": everything_again,
}

_BATCH: Final = 1_000
_HASTY_BATCH: Final = 25


def check_streams(
    subject: Subject, check: str, streams: Iterable[Stream], haste: Haste = PATIENT
) -> tuple[int, Divergence | None]:
    """How many streams were tried, and the first on which the subject differs, shortened."""
    tried = 0
    todo = iter(streams)
    while batch := list(islice(todo, haste.batches(_BATCH, _HASTY_BATCH))):
        if haste.is_over():
            break
        by_run: dict[str, list[tuple[tuple[Template, ...], list[Move]]]] = {}
        for run, templates in batch:
            by_run.setdefault(run, []).append(
                (templates, play(Oracle(run), templates, subject.takes))
            )
        for run, played in by_run.items():
            traces = [[move.event for move in moves] for _, moves in played]
            tried += len(traces)
            for (templates, moves), shown in zip(played, subject.every(run, traces), strict=True):
                oracle = Oracle(run)
                for move, snapshot in zip(moves, shown, strict=True):
                    oracle.take(move)
                    if not agrees(oracle.observables(), snapshot):
                        found = shrink(subject, check, run, templates)
                        once = first_in(subject.name, check, run, moves, shown)
                        return tried, found or (once and seen_once(once))
    return tried, None
