"""How fast: four streams in three sizes of chunks, as ratios to one-shot splitting and to peers.

A figure is the throughput of a decoder over that of the floor, which is handed all chunks at once,
joins them, decodes and splits at blank lines. Both are medians of rounds in which all take turns,
in CPU time. A JavaScript peer runs in a Node of its own, one after the others, and has a floor in
its own language too. A decoder that would take too long for a stream gets a shorter one of the same
events, which is marked: throughput is what is compared.

How ours stands to the fastest peers is measured apart: in many short rounds they take turns, at
once and in changing order, so that whatever else runs on the machine hits both; a round gives one
ratio, and the median of those is told, with their quartiles.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Callable, Sequence
from operator import truediv
from statistics import median, quantiles
from typing import Final, NamedTuple

import javascript_peers
from python_peers import OURS, PEERS, Decode

MB: Final = 2**20
SMALLER: Final = (64, 16, 4, 1)
"""Megabytes of a stream, from the full one on: the longest that a decoder gets through in time."""
PROBE_MB: Final = 0.5
RACE_MB: Final = 2
RACERS: Final = 2
"""The fastest peers by the table; the slower of the two ratios counts."""
JAVASCRIPT_MB: Final = 16
"""Of a stream for Node, where CPU time includes the compiler's and the collector's threads."""


class Stream(NamedTuple):
    """One event, many times."""

    event: bytes
    end: str


def _chat(content: str, end: str) -> Stream:
    chunk = {
        "id": "chatcmpl-8b1f0c6e2d9a4f7c",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": "some-model-large",
        "system_fingerprint": "fp_4c2851f09b",
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}],
    }
    written = json.dumps(chunk, ensure_ascii=False, separators=(",", ":"))
    return Stream(f"data: {written}{end}".encode(), end)


STREAMS: Final = {
    "chat": _chat(" the streaming agent says", "\n\n"),
    "CRLF": _chat(" the streaming agent says", "\r\n\r\n"),
    "Chinese": _chat("合成巡检：已检查 2 项，继续 checking…", "\n\n"),
    "64 KB events": Stream(b"data: " + b"x" * (64 * 1024 - 8) + b"\n\n", "\n\n"),
}
CHUNKS: Final = {"16 KB": 16 * 1024, "1 KB": 1024, "64 B": 64}


class Measured(NamedTuple):
    """What came of one decoder on one stream in one size of chunks.

    Attributes:
        speed: Megabytes a second of CPU time, the median of the rounds.
        megabytes: How much of the stream it was given.
        own_floor: The throughput of the floor in its own language, where that is not Python.
        ours: How many times as fast our decoder in that language is, in the same process.
    """

    speed: float
    megabytes: float
    own_floor: float | None = None
    ours: float | None = None


def floor_of(end: str) -> Callable[[Sequence[bytes]], int]:
    """The least that a decoder could do, if it had all bytes at once."""
    blank = end.encode()
    return lambda chunks: len([part.decode() for part in b"".join(chunks).split(blank)]) - 1


def counting(decode: Decode) -> Callable[[Sequence[bytes]], int]:
    """Decode, and count the events."""
    return lambda chunks: sum(1 for _ in decode(chunks))


def feeding(chunks: Sequence[bytes]) -> int:
    """Our decoder without the helper: `feed`, chunk by chunk."""
    from doneness.machine.framing import SSEDecoder

    decoder, count = SSEDecoder("replace"), 0
    for chunk in chunks:
        for _event in decoder.feed(chunk):
            count += 1
    decoder.finish()
    return count


PYTHON: Final = {
    "doneness (feed)": feeding,
    "doneness (iter_events)": counting(OURS.decode),
    **{peer.name: counting(peer.bulk or peer.decode) for peer in PEERS},
}


def timed(run: Callable[[Sequence[bytes]], int], chunks: Sequence[bytes], events: int) -> float:
    """CPU seconds; all events must have been found."""
    started = time.process_time()
    found = run(chunks)
    took = time.process_time() - started
    if found != events:
        raise RuntimeError(f"{found} events found in a stream of {events}")
    return max(took, 1e-6)


def measured(
    stream: Stream, step: int, megabytes: float, rounds: int, seconds_max: float
) -> dict[str, Measured]:
    """All decoders on one stream in one size of chunks."""

    def size(wanted: float) -> int:
        return max(1, int(wanted * MB) // len(stream.event))

    chunks = _cut(stream, size(megabytes), step)
    runs = {"floor": floor_of(stream.end), **PYTHON}
    parts: dict[str, tuple[Sequence[bytes], int, float]] = {}
    for name, run in runs.items():
        given = min(PROBE_MB, megabytes)
        probe = _cut(stream, size(given), step)
        rate = min(timed(run, probe, size(given)) for _ in range(3)) / given
        given = next(
            (some for some in SMALLER if some <= megabytes and some * rate <= seconds_max),
            min(SMALLER[-1], megabytes),
        )
        given = megabytes if megabytes < SMALLER[-1] or megabytes * rate <= seconds_max else given
        events = size(given)
        part = chunks if given == megabytes else _cut(stream, events, step)
        parts[name] = (part, events, len(stream.event) * events / MB)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            part, events, _size = parts[name]
            seconds[name].append(timed(run, part, events))
    found = {
        name: Measured(parts[name][2] / median(took), parts[name][2])
        for name, took in seconds.items()
    }
    for name in javascript_peers.versions():
        events = size(min(megabytes, JAVASCRIPT_MB))
        took = javascript_peers.speed(name, stream.event, events, stream.end, step, rounds)
        if took["events"] != events:
            raise RuntimeError(f"{name}: {took['events']} events found in a stream of {events}")
        given = len(stream.event) * events / MB
        beside = map(truediv, took["peer"], took["ours"])
        own_floor = given / median(took["floor"])
        found[name] = Measured(given / median(took["peer"]), given, own_floor, median(beside))
    return found


def _cut(stream: Stream, events: int, step: int) -> list[bytes]:
    wire = stream.event * events
    return [wire[at : at + step] for at in range(0, len(wire), step)]


def raced(stream: Stream, step: int, ours: str, peers: Sequence[str], rounds: int) -> str:
    """How many times as fast as the fastest of these peers: median and quartiles, and which."""
    events = max(1, RACE_MB * MB // len(stream.event))
    chunks = _cut(stream, events, step)
    ratios: dict[str, list[float]] = {name: [] for name in peers}
    for turn in range(rounds):
        order = [ours, *peers]
        took = {
            name: timed(PYTHON[name], chunks, events)
            for name in (order[::-1] if turn % 2 else order)
        }
        for name in peers:
            ratios[name].append(took[name] / took[ours])
    fastest = min(peers, key=lambda name: median(ratios[name]))
    low, middle, high = quantiles(ratios[fastest], n=4)
    return f"{middle:.2f} [{low:.2f}, {high:.2f}] ({fastest})"


def main() -> None:
    """Print the tables, each line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--races", type=int, default=41, help="rounds against the fastest peers")
    parser.add_argument("--seconds", type=float, default=1.0, help="at most, for a round")
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--chunks", default=",".join(CHUNKS))
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    scripts = tuple(javascript_peers.versions())
    names = [*PYTHON, *scripts]
    print(f"Streams of {options.megabytes:g} MB, medians of {options.rounds} rounds, CPU time.")
    print("Throughput over that of the floor; * on less of the stream; / own floor, in Node;")
    print("x how many times as fast doneness.mjs is, in the same process.")
    print(f"Beside the fastest peer: {options.races} rounds of {RACE_MB} MB, [quartiles].\n")
    head = ["stream", "chunks", "floor MB/s", *names, "feed / fastest", "iter / fastest"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for stream in options.streams.split(","):
        for chunk in options.chunks.split(","):
            found = measured(
                STREAMS[stream], CHUNKS[chunk], options.megabytes, options.rounds, options.seconds
            )
            floor = found["floor"]
            cells = []
            for name in names:
                one = found[name]
                mark = "*" if one.megabytes < floor.megabytes * 0.99 else ""
                own = f" / {one.speed / one.own_floor:.2f}" if one.own_floor else ""
                own += f" x {one.ours:.2f}" if one.ours else ""
                cells.append(f"{one.speed / floor.speed:.2f}{mark}{own}")
            peers = sorted((peer.name for peer in PEERS), key=lambda name: -found[name].speed)
            ratios = [
                raced(STREAMS[stream], CHUNKS[chunk], name, peers[:RACERS], options.races)
                for name in PYTHON
                if name.startswith(OURS.name)
            ]
            row = [stream, chunk, f"{floor.speed:.0f}", *cells, *ratios]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
