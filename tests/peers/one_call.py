"""What one call of `feed` must cost, where a chunk ends no line: floors, step by step.

Most of the time of 64 KB events in chunks of 64 bytes is such calls. A method that only answers
with an empty list is the first floor; each next one does a little more of what no decoder that is
called chunk by chunk can leave out: look for the two bytes that end a line, keep a copy of the
chunk, hold its length against a limit. None of these finds an event. Beside them the decoder, and
the fastest peer, which is a generator over the chunks: it is not called for each, answers nothing
where there is nothing, and has no limits.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from typing import Final

from speed import CHUNKS, MB, PYTHON, STREAMS, Stream

PEER: Final = "launchdarkly-eventsource"
STREAM: Final = "64 KB events"
CHUNK: Final = "64 B"


class Answers:
    """Answers with a fresh list."""

    __slots__ = ("kept", "pieces", "room")

    def __init__(self) -> None:
        self.kept = bytearray()
        self.pieces: list[bytes] = []
        self.room = 2**29

    def feed(self, chunk: bytes) -> list[bytes]:  # noqa: ARG002 # as in the others
        """Nothing else."""
        return []


class Appends(Answers):
    """Puts the chunk aside as it came, whatever it is."""

    __slots__ = ()

    def feed(self, chunk: bytes) -> list[bytes]:
        """No look at it."""
        self.pieces.append(chunk)
        return []


class Looks(Answers):
    """Looks for the two bytes that end a line."""

    __slots__ = ()

    def feed(self, chunk: bytes) -> list[bytes]:
        """It is not kept."""
        if 10 not in chunk and 13 not in chunk:
            return []
        return self.pieces


class Keeps(Answers):
    """Looks, and keeps a copy: a buffer may be used again by the caller."""

    __slots__ = ()

    def feed(self, chunk: bytes) -> list[bytes]:
        """However much that becomes."""
        if 10 not in chunk and 13 not in chunk:
            self.kept += chunk
            return []
        return self.pieces


class Limits(Answers):
    """Looks, keeps, and holds the length against a limit."""

    __slots__ = ()

    def feed(self, chunk: bytes) -> list[bytes]:
        """All that must be done."""
        if 10 not in chunk and 13 not in chunk:
            self.kept += chunk
            if len(self.kept) <= self.room:
                return []
        return self.pieces


STEPS: Final = {
    "answers with a fresh list": Answers,
    "appends the chunk, unseen": Appends,
    "looks for CR and LF": Looks,
    "... and keeps a copy": Keeps,
    "... and holds its length against a limit": Limits,
}


def step_of(made: Callable[[], Answers], line: int) -> Callable[[Sequence[bytes]], int]:
    """Feed it, with a new one for each line."""

    def run(chunks: Sequence[bytes]) -> int:
        count = 0
        for at in range(0, len(chunks), line):
            step = made()
            for chunk in chunks[at : at + line]:
                for _event in step.feed(chunk):
                    count += 1
        return count

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=61)
    options = parser.parse_args()
    stream: Stream = STREAMS[STREAM]
    size = CHUNKS[CHUNK]
    wire = stream.event * (2 * MB // len(stream.event))
    chunks = [wire[at : at + size] for at in range(0, len(wire), size)]
    silent = [chunk if b"\n" not in chunk else b"x" * size for chunk in chunks]
    runs = {
        name: (step_of(made, len(stream.event) // size), silent) for name, made in STEPS.items()
    }
    ours = [name for name in PYTHON if name.startswith("doneness")]
    runs |= {name: (PYTHON[name], chunks) for name in [*ours, PEER]}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(options.rounds):
        for name in list(runs)[:: -1 if turn % 2 else 1]:
            run, given = runs[name]
            started = time.process_time()
            run(given)
            seconds[name].append(time.process_time() - started)
    print(
        f"{STREAM} in chunks of {CHUNK}, {options.rounds} rounds, CPU time, medians [quartiles].\n"
    )
    print(f"| a call that | ns a chunk | {PEER} takes so many times as long |\n|---|---|---|")
    for name, took in seconds.items():
        ratios = [peer / mine for peer, mine in zip(seconds[PEER], took, strict=True)]
        low, middle, high = quantiles(ratios, n=4)
        each = median(took) / len(chunks) * 1e9
        print(f"| {name} | {each:.0f} | {middle:.2f} [{low:.2f}, {high:.2f}] |")


if __name__ == "__main__":
    main()
