"""Whether the time that a reducer takes is linear in the run (contract §3).

What counts is a ratio within one go: eight times the events may take about eight times as long, and
a reducer that copies what it holds at each event takes sixty-four times; so does one that folds its
whole log whenever it is read, where it is read after each event. Times are told apart only
where they are long enough to be more than noise, and the shortest of several counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final, TypeAlias

from doneness.generators.checks.letters import again, says
from doneness.generators.divergence import Line
from doneness.generators.exploration import RUN, agrees
from doneness.generators.moves import play
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Snapshot, Subject
from doneness.generators.subjects.program import Verdict
from doneness.spec.vocabulary import Kind

EVENTS: Final = (3_000, 6_000, 12_000)
"""The first of these that takes long enough to be measured is."""

EVENTS_READ: Final = (100, 200, 400)
"""The same where all that is shown is read after each event; less would be no use to a view."""

TIMES: Final = 8
RATIO_MAX: Final = 24.0
"""Between eight, for linear, and sixty-four, for quadratic."""

NOISE_SECONDS: Final = 1.0
TRIES: Final = 2


def faster_than_the_run(subject: Subject) -> str | None:
    """How much faster than the run its time grows, in words; None if it does not."""
    moves, _ = _run()
    events = [move.event for move in moves[:-1]]
    for every, numbers in ((True, EVENTS_READ), (False, EVENTS)):
        for number in numbers:
            measured = partial(_timed, subject, every=every)
            found = _faster(measured, events[: number // TIMES], events[:number])
            if found:
                return f"read after each event, {found}" if every else found
            if found is not None:
                break
    return None


_Measured: TypeAlias = Callable[[list[object]], tuple[float, Snapshot]]


def _faster(measured: _Measured, part: list[object], whole: list[object]) -> str | None:
    """The same for this many events; empty if it does not, None if they are too few to say."""
    few = many = float("inf")
    for _ in range(TRIES):
        seconds, shown = measured(part)
        if "failure" in shown:
            return ""  # it does not even answer to a few: the other checks say more of that
        few = min(few, seconds)
        seconds, shown = measured(whole)
        if shown.get("verdict of the program") in (Verdict.HANGS, Verdict.LATE):
            failure = shown["failure"]
            return f"{len(part):,} events take {few:.2f} s; {len(whole):,} events: {failure}"
        if "failure" in shown:
            return ""  # likewise
        many = min(many, seconds)
        if many < NOISE_SECONDS:
            return None
        if many / few < RATIO_MAX:
            return ""
    return (
        f"{TIMES} times the events take {many / few:.0f} times as long: {few:.2f} s, {many:.1f} s"
    )


def _timed(subject: Subject, events: list[object], *, every: bool) -> tuple[float, Snapshot]:
    """How long a run takes, and what is shown at its end."""
    begun = time.perf_counter()
    if every:
        [[*_, shown]] = subject.every(RUN, [events])
    else:
        [shown] = subject.last(RUN, [events])
    return time.perf_counter() - begun, shown


@cache
def _run() -> tuple[Sequence[Move], dict[str, object]]:
    """A run of as many fragments as there are at most and the first again; what is declared of it.

    Their text is empty: what is shown must not grow, since a program may show it after each event.
    """
    oracle = Oracle(RUN)
    fragment = says(Kind.TEXT_DELTA, {"text": ""})
    moves = play(oracle, [fragment] * max(EVENTS) + [again("the first again", 0)])
    return moves, oracle.observables()


def lost_in_the_run(subject: Subject) -> str | None:
    """What is wrong at the end of such a run, in words; None if nothing is."""
    moves, expected = _run()
    [shown] = subject.last(RUN, [[move.event for move in moves]])
    if agrees(expected, shown):
        return None
    explained = "\n".join(Line(moves[-1], expected, shown).explained())
    return f"after {len(moves) - 1:,} fragments of text and the first of them again:\n{explained}"
