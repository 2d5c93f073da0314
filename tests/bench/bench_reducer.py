"""How much the reducer costs, beside the plain way of doing it, in one run.

The plain way checks the five keys, keeps each event as JSON with sorted keys under its id, and
appends to a text attribute with `+=`. All figures are ratios or counts of bytes: seconds of a
noisy machine mean nothing. Run with `make bench`.
"""

from __future__ import annotations

import gc
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from uuid import UUID

from doneness.machine import Progress

EVENTS = 160_000
FEW, MANY = 10_000, 1_000_000
ROUNDS = 3
KEYS = {"run", "id", "seq", "kind", "data"}


class Plain:
    """The baseline."""

    def __init__(self) -> None:
        self.text = ""
        self.seen: dict[str, str] = {}

    def feed(self, event: dict) -> None:
        """Take one event, if its content is not known."""
        if set(event) != KEYS:
            raise ValueError("not an envelope")
        content = json.dumps(event, sort_keys=True, ensure_ascii=False, allow_nan=False)
        if self.seen.setdefault(event["id"], content) is content:
            self.text += event["data"]["text"]


TEXTS = {"1 letter": "w", "5 letters": "words", "20 letters": "w" * 20, "2 Chinese": "合成"}

IDS: dict[str, Callable[[int], str]] = {
    "run:1, run:2 …": lambda seq: f"run-A:{seq}",
    "e0, e1 …": lambda seq: f"e{seq - 1}",
    "random": lambda _seq: str(UUID(int=RANDOM.getrandbits(128))),
}
RANDOM = random.Random(1)


def fragments(
    count: int, text: str, id_: Callable[[int], str] = IDS["run:1, run:2 …"]
) -> Iterator[dict]:
    """A run that only streams text."""
    for seq in range(1, count + 1):
        yield {
            "run": "run-A",
            "id": id_(seq),
            "seq": seq,
            "kind": "text.delta",
            "data": {"text": text},
        }


def ratio(*sides: tuple[Callable[[], Callable[[object], object]], list]) -> float:
    """The first side's cost per event over the second's, each the least of interleaved rounds."""
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for side, (make, events) in enumerate(sides):
            feed = make()
            gc.collect()
            started = time.process_time()
            for event in events:
                feed(event)
            best[side] = min(best[side], (time.process_time() - started) / len(events))
    return best[0] / best[1]


def ours() -> Callable[[object], object]:
    """A new reducer, fed with objects."""
    return Progress("run-A").feed


def main() -> None:
    """Print all figures."""
    print(f"feed, {EVENTS:,} text events, against the plain way (wanted: 20 times)")
    for label, text in TEXTS.items():
        events = list(fragments(EVENTS, text))
        print(f"  {label:14} {ratio((lambda: Plain().feed, events), (ours, events)):6.1f} times")
    print(f"feed, cost per event at {MANY:,} against {FEW:,} (wanted: at most 1.2), by ids")
    for label, id_ in IDS.items():
        few, many = (list(fragments(count, "words", id_)) for count in (FEW, MANY))
        print(f"  {label:14} {ratio((ours, many), (ours, few)):6.2f} times")
    del events, few, many
    lines = [json.dumps(event).encode() for event in fragments(EVENTS, "words")]
    print("feed_json, bytes to status, against json.loads alone (wanted: 1.5 times)")
    feed_json = ratio((lambda: json.loads, lines), (lambda: Progress("run-A").feed_json, lines))
    print(f"               {feed_json:6.2f} times")
    tracemalloc.start()
    progress = Progress("run-A")
    for event in fragments(MANY, "words"):
        progress.feed({**event, "data": {"text": f"{event['seq'] % 100_000:05}"}})
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"memory per event beyond its text, at {MANY:,} (wanted: at most 250 bytes)")
    print(f"               {used / MANY - 5:6.1f} bytes")


if __name__ == "__main__":
    main()
