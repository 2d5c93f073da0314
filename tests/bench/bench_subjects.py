"""Events a second through a reducer in another process: whole traces, and event by event.

The figures are ratios to the same work done in this process by the Python reducer, in the same
run (medians of interleaved rounds). Run with `make bench`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from doneness.generators.subject import PythonSubject
from doneness.generators.subjects.reducer_program import ReducerProgram
from doneness.machine import Progress

PROGRAM = Path(__file__).parents[2] / "machine" / "javascript" / "subject.mjs"
EVENTS = 50
TRACES = 2_000
STEPWISE_TRACES = 200
ROUNDS = 5


def trace() -> list[dict[str, object]]:
    """A run of fifty text fragments."""
    return [
        {"run": "a", "id": f"a:{n}", "seq": n, "kind": "text.delta", "data": {"text": "hello wor"}}
        for n in range(1, EVENTS + 1)
    ]


def rate(work: Callable[[], object], events: int) -> float:
    """Events a second."""
    started = time.perf_counter()
    work()
    return events / (time.perf_counter() - started)


def main() -> None:
    """Print the rates."""
    node = shutil.which("node")
    if node is None:
        print("Node is not installed: nothing to measure")
        return
    python = PythonSubject("python", Progress)
    whole = ReducerProgram([node, str(PROGRAM)])
    stepwise = ReducerProgram([node, str(PROGRAM)])
    stepwise._talk.capabilities -= {"trace"}
    traces = [trace() for _ in range(TRACES)]
    some = traces[:STEPWISE_TRACES]
    rates: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, subject, asked in (
            ("Python, in this process", python, traces),
            ("JavaScript, whole traces", whole, traces),
            ("JavaScript, event by event", stepwise, some),
        ):
            done = rate(lambda s=subject, t=asked: s.last("a", t), len(asked) * EVENTS)  # type: ignore[misc]
            rates.setdefault(name, []).append(done)
    base = median(rates["Python, in this process"])
    for name, measured in rates.items():
        print(f"{name:28} {median(measured):>10,.0f} events/s   {median(measured) / base:.2f}")
    whole.close()
    stepwise.close()


if __name__ == "__main__":
    main()
