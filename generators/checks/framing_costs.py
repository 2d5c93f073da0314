"""What a chunk costs a decoder: calls of functions, counted, not timed.

Streams are nearly all values of one data line, in chunks of any size. The short ways through the
decoder must be taken by the chunks that they are meant for; events that are right but took the
long way are a fault too, and no event shows it.
"""

from __future__ import annotations

import struct
import sys
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.checks.counting import calls_of

_WITHIN: Final = b"data: a"

# What was fed before, the chunk that is counted, and how many functions it may enter.
CHUNKS: Final = (
    ("inside a value", (_WITHIN, b"b"), b"c" * 10, 1),
    ("inside a short value", (_WITHIN,), b"b", 1),
    ("inside a name", (b"data: a\n\n",), b"dat", 1),
    ("to the end of a name", (b"data: a\n\n",), b"data:", 1),
    ("at the start of a value", (b"data: a\n\n",), b"data: b", 4),
    ("after a name that was cut", (b"data: a\n\nda", b"ta: b"), b"c\n\n", 3),
    ("after a name that was cut late", (b"data: a\n\ndata:", b" b"), b"c\n\n", 3),
    ("after a first name that was cut", (b"data:", b" b"), b"c\n\n", 3),
    ("from value to value", (_WITHIN, b"b"), b"c\n\ndata: d", 2),
    ("from value to value, CRLF", (_WITHIN, b"b"), b"c\r\n\r\ndata: d", 2),
    ("to the end of a value", (_WITHIN, b"b"), b"c\n\n", 3),
    ("to the end of a value, CRLF", (_WITHIN, b"b"), b"c\r\n\r\n", 3),
    ("to the end of a second value", (b"data: a\ndata: b",), b"c\n\n", 11),
    ("over several values", (_WITHIN, b"b"), b"c\n\n" + b"data: d\n\n" * 20 + b"data: e", 2),
    ("over several values, CRLF", (_WITHIN,), b"\r\n\r\ndata: d" * 20, 2),
    ("whole events", (b"data: a\n\n",), b"data: b\n\n" * 20, 10),
    ("whole events, CRLF", (b"data: a\r\n\r\n",), b"data: b\r\n\r\n" * 20, 10),
    ("whole events under an id", (b"id: 1\ndata: a\n\n",), b"data: b\n\n" * 20, 10),
)

# The chunks of a whole stream, and how many functions it may enter.
STREAMS: Final = (
    ("small chunks", (_WITHIN, *(b"b",) * 20), 10),
    ("ends of names", (_WITHIN, b"\n\n", b"data:"), 13),
    ("from value to value", (_WITHIN, b"b", *(b"c\n\ndata: d",) * 20), 50),
)

# What is handed out, and how many texts it is made of: there is nothing else in it.
ITEMS: Final = ((b"data: a\n\n", 3), (b": a\n", 1))

LONG_BYTES: Final = 60_000
PIECES: Final = 20


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """Chunks that cost too much."""
    yield from _chunks(machine)
    yield from _streams(machine)
    yield from _copies(machine)
    yield from _sizes(machine)


def _chunks(machine: SimpleNamespace) -> Iterator[str]:
    for name, before, chunk, calls_max in CHUNKS:
        decoder = machine.decoder.SSEDecoder()
        for earlier in before:
            decoder.feed(earlier)
        calls = calls_of(decoder.feed, chunk)
        if calls > calls_max:
            yield f"{name}: {calls} calls"


def _streams(machine: SimpleNamespace) -> Iterator[str]:
    for name, chunks, calls_max in STREAMS:
        calls = calls_of(list, machine.decoder.SSEDecoder().stream(chunks))
        if calls > calls_max:
            yield f"a stream, {name}: {calls} calls"


def _copies(machine: SimpleNamespace) -> Iterator[str]:
    """A long line grows in place: few chunks, if any, need as much memory again as it has."""
    for value in (_WITHIN, b"c\n\n" + _WITHIN):
        decoder = machine.decoder.SSEDecoder()
        decoder.feed(_WITHIN)
        decoder.feed(b"b" * 600)
        decoder.feed(value)
        decoder.feed(b"b" * 600)
        decoder.feed(b"b" * LONG_BYTES)
        if (copied := _copied(decoder)) > 2:
            yield f"{copied} of {PIECES} small chunks copy a long line, after {value!r}"


def _sizes(machine: SimpleNamespace) -> Iterator[str]:
    """An event takes the room of its texts' places; a collector of garbage has no use for it."""
    for wire, texts in ITEMS:
        [item] = machine.decoder.SSEDecoder(comments=True).feed(wire)
        size_bytes = object.__basicsize__ + texts * struct.calcsize("P")
        if sys.getsizeof(item) > size_bytes:
            yield f"{wire!r}: {sys.getsizeof(item)} bytes of {size_bytes} for {item!r}"


def _copied(decoder: Any) -> int:
    copied = 0
    started = not tracemalloc.is_tracing()
    if started:
        tracemalloc.start()
    try:
        for _ in range(PIECES):
            tracemalloc.reset_peak()
            before, _peak = tracemalloc.get_traced_memory()
            decoder.feed(b"c" * 10)
            copied += tracemalloc.get_traced_memory()[1] - before > LONG_BYTES // 2
    finally:
        if started:
            tracemalloc.stop()
    return copied
