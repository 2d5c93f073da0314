"""Whether the time that a reducer takes is linear in the run (contract §3).

What counts is a ratio within one go: eight times the events may take about eight times as long, and
a reducer that copies what it holds at each event takes sixty-four times; so does one that folds its
whole log whenever it is read, where it is read after each event. Times are told apart only
where they are long enough to be more than noise, and the shortest of several counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from doneness.generators.checks.letters import says
from doneness.generators.exploration import RUN
from doneness.generators.moves import play
from doneness.generators.oracle import Oracle
from doneness.generators.subject import Subject
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
    oracle = Oracle(RUN)
    # Empty text: what is shown must not grow, since a program may show it after each event.
    fragment = says(Kind.TEXT_DELTA, {"text": ""})
    events = [move.event for move in play(oracle, [fragment] * max(EVENTS), subject.takes)]
    for every, numbers in ((True, EVENTS_READ), (False, EVENTS)):
        for number in numbers:
            measured = partial(_timed, subject, every=every)
            found = _faster(measured, events[: number // TIMES], events[:number])
            if found:
                return f"read after each event, {found}" if every else found
            if found is not None:
                break
    return None


_Measured: TypeAlias = Callable[[list[object]], tuple[float, object]]


def _faster(measured: _Measured, part: list[object], whole: list[object]) -> str | None:
    """The same for this many events; empty if it does not, None if they are too few to say."""
    few = many = float("inf")
    for _ in range(TRIES):
        seconds, failure = measured(part)
        if failure is not None:
            return ""  # it does not even answer to a few: the other checks say more of that
        few = min(few, seconds)
        seconds, failure = measured(whole)
        if failure is not None:
            return f"{len(part):,} events take {few:.2f} s; {len(whole):,} events: {failure}"
        many = min(many, seconds)
        if many < NOISE_SECONDS:
            return None
        if many / few < RATIO_MAX:
            return ""
    return (
        f"{TIMES} times the events take {many / few:.0f} times as long: {few:.2f} s, {many:.1f} s"
    )


def _timed(subject: Subject, events: list[object], *, every: bool) -> tuple[float, object]:
    """How long a run takes, and the failure where the subject gives no answer."""
    begun = time.perf_counter()
    if every:
        [[*_, shown]] = subject.every(RUN, [events])
    else:
        [shown] = subject.last(RUN, [events])
    return time.perf_counter() - begun, shown.get("failure")
