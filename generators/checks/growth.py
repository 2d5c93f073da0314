"""Whether the time that a reducer takes is linear in the run (contract §3).

What counts is a ratio within one go: eight times the events may take about eight times as long, and
a reducer that copies what it holds at each event takes sixty-four times. Times are told apart only
where they are long enough to be more than noise, and the shortest of several counts.
"""

from __future__ import annotations

import time
from typing import Final

from doneness.generators.checks.letters import says
from doneness.generators.exploration import RUN
from doneness.generators.moves import play
from doneness.generators.oracle import Oracle
from doneness.generators.subject import Subject
from doneness.spec.vocabulary import Kind

FEW: Final = 1_500
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
    events = [move.event for move in play(oracle, [fragment] * (FEW * TIMES), subject.takes)]
    few = many = float("inf")
    for _ in range(TRIES):
        few = min(few, _seconds(subject, events[:FEW]))
        many = min(many, _seconds(subject, events))
        if few < many == float("inf"):
            return f"{FEW * TIMES:,} events take too long, and {FEW:,} take {few:.2f} s"
        if many < NOISE_SECONDS or many / few < RATIO_MAX:
            return None
    return (
        f"{TIMES} times the events take {many / few:.0f} times as long: {few:.2f} s, {many:.1f} s"
    )


def _seconds(subject: Subject, events: list[object]) -> float:
    """How long a run takes; for ever, where the subject gives no answer in its time."""
    begun = time.perf_counter()
    [shown] = subject.last(RUN, [events])
    return float("inf") if "failure" in shown else time.perf_counter() - begun
