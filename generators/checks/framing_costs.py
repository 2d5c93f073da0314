"""What a chunk costs a decoder: calls of functions, counted, not timed.

Streams are nearly all values of one data line, in chunks of any size. The short ways through the
decoder must be taken by the chunks that they are meant for; events that are right but took the
long way are a fault too, and no event shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Final

from doneness.generators.checks.counting import calls_of

_WITHIN: Final = b"data: a"

# What was fed before, the chunk that is counted, and how many functions it may enter.
CHUNKS: Final = (
    ("inside a value", (_WITHIN, b"b"), b"c" * 10, 1),
    ("inside a short value", (_WITHIN,), b"b", 1),
    ("inside a name", (b"data: a\n\n",), b"dat", 1),
    ("at the start of a value", (b"data: a\n\n",), b"data: b", 5),
    ("from value to value", (_WITHIN, b"b"), b"c\n\ndata: d", 2),
    ("from value to value, CRLF", (_WITHIN, b"b"), b"c\r\n\r\ndata: d", 2),
    ("to the end of a value", (_WITHIN, b"b"), b"c\n\n", 3),
    ("to the end of a value, CRLF", (_WITHIN, b"b"), b"c\r\n\r\n", 3),
    ("over several values", (_WITHIN, b"b"), b"c\n\n" + b"data: d\n\n" * 20 + b"data: e", 2),
    ("over several values, CRLF", (_WITHIN,), b"\r\n\r\ndata: d" * 20, 2),
    ("whole events", (b"data: a\n\n",), b"data: b\n\n" * 20, 10),
    ("whole events, CRLF", (b"data: a\r\n\r\n",), b"data: b\r\n\r\n" * 20, 10),
    ("whole events under an id", (b"id: 1\ndata: a\n\n",), b"data: b\n\n" * 20, 10),
)


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """Chunks that cost too much."""
    for name, before, chunk, calls_max in CHUNKS:
        decoder = machine.decoder.SSEDecoder()
        for earlier in before:
            decoder.feed(earlier)
        calls = calls_of(decoder.feed, chunk)
        if calls > calls_max:
            yield f"{name}: {calls} calls"
