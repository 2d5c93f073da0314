"""How a decoder keeps a line that comes in pieces: short ones, long ones, and too much of it.

What is kept in one way or another by its size is one line all the same, it is refused with the
byte that makes it too long, and a refused one is there once. Expected by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.checks.framing_telling import fed

PIECES: Final = (
    (5,),
    (500,),
    (505,),
    (600,),
    (2_100,),
    (3_000,),
    (600, 3_000),
    (2_100, 600),
    (3_000, 3_000),
    (3_000, 300, 300),
)
"""How many bytes of a value come in each chunk."""

ENDINGS: Final = (
    ((b"y\n\n",), ("y",)),
    ((b"y\r\n\r\n",), ("y",)),
    ((b"y\n", b"\n"), ("y",)),
    ((b"\n\n",), ("",)),
    ((b"y\n\ndata: z\n\n",), ("y", "z")),
    ((b"y\n\ndata: z", b"\n\n"), ("y", "z")),
    ((b"y\r\n\r\ndata: z", b"\r\n\r\n"), ("y", "z")),
    ((b"y\n\ndata: z\n\ndata: w", b"\n\n"), ("y", "z", "w")),
    ((b"\xff\n\n",), ("\ufffd",)),
    ((b"y\xff\n\ndata: z", b"\n\n"), ("y\ufffd", "z")),
    ((b"y\n\ndata: \xff\n\ndata: w", b"\n\n"), ("y", "\ufffd", "w")),
    ((b"y\n", b"data: z\n\n"), ("y\nz",)),
    ((b"y\ndata: z\n\n",), ("y\nz",)),
    ((b"y\nid: 3\n\ndata: z\n\n",), ("y", "z")),
)
"""Chunks that come then, and the data: the first is what the value ends with."""

LIMIT: Final = 7_005
_FILLED: Final = (
    (10,),
    (300,),
    (600,),
    (6_700,),
    (6_980,),
    (7_005,),
    (10, 6_000),
    (10, 6_684),
    (10, 6_684, 200),
    (600, 6_000),
    (3_000, 3_700),
    (3_000, 3_000, 900),
)


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """What is kept wrongly, a line each."""
    for check in (_whole, _named, _too_long, _too_long_at_its_end, _refused, _before_wrong):
        for line in check(machine):
            yield f"{check.__name__.strip('_')}: {line}"


def _whole(machine: SimpleNamespace) -> Iterator[str]:
    for start in (b"data: a", b"data:a", b"data: b\n\ndata: a"):
        for pieces in PIECES:
            text = "a" + "x" * sum(pieces)
            for chunks, (end, *others) in ENDINGS:
                decoder = machine.decoder.SSEDecoder("replace")
                decoder.feed(start)
                for size in pieces:
                    decoder.feed(b"x" * size)
                found = [event.data for chunk in chunks for event in decoder.feed(chunk)]
                if found != [text + end, *others]:
                    shown = [f"{one[:3]}…{one[-3:]} ({len(one)})" for one in found]
                    yield f"{start!r}, {pieces} bytes, then {chunks}: {shown}"


def _named(machine: SimpleNamespace) -> Iterator[str]:
    """What stands in the midst of a long line names nothing."""
    for before in (3_000, 600, 10):
        for after in (0, 3_000, 600, 10):
            decoder = machine.decoder.SSEDecoder()
            pieces = (b"event: " + b"x" * before, b"data: " + b"y" * after)
            for chunk in pieces:
                decoder.feed(chunk)
            [event] = decoder.feed(b"z\ndata: a\n\n")
            if event.event != b"".join(pieces)[len(b"event: ") :].decode() + "z":
                yield f"{before} bytes, then {after} after a name: {event.event[-9:]}"


def _too_long(machine: SimpleNamespace) -> Iterator[str]:
    """With the byte that passes the limit, not before, and not only when the line ends."""
    for name in (b"data: ", b"other: "):
        for filled in _FILLED:
            ends = [*accumulate(filled), LIMIT]
            line = (name + b"x" * LIMIT)[:LIMIT]
            decoder = machine.decoder.SSEDecoder(line_bytes_max=LIMIT)
            for begin, end in pairwise([0, *ends]):
                decoder.feed(line[begin:end])
            if decoder.unfinished.line != line:
                yield f"{name!r}, {filled} bytes: it is not kept"
            try:
                decoder.feed(b"y")
            except machine.errors.TooLongError:
                yield from _nothing_left(decoder)
            else:
                yield f"{name!r}, {filled} bytes: one byte too many is accepted"


def _too_long_at_its_end(machine: SimpleNamespace) -> Iterator[str]:
    """A value of exactly the limit is taken, one more byte is not, whatever the chunk holds."""
    for limits in ({"event_chars_max": 20}, {"line_bytes_max": 26}):
        for size in (20, 21):
            text = b"x" * size
            for chunk in (
                text[1:] + b"\n\n",
                text[1:] + b"\r\n\r\n",
                text[1:] + b"\n\ndata: z",
                b"\n\ndata: " + text + b"\n\ndata: z",
                b"\n\ndata: " + text + b"\n\n",
                b"\n\ndata: z\n\ndata: " + text,
            ):
                decoder = machine.decoder.SSEDecoder(**limits)
                decoder.feed(b"data: x")
                data: list[str] = []
                try:
                    for one in (chunk, b"\n\n"):
                        data += [event.data for event in decoder.feed(one)]
                except machine.errors.TooLongError:
                    if size == 20:
                        yield f"{limits}: {size} in {chunk[:9]!r} is refused"
                else:
                    if size == 21 or text.decode() not in data:
                        yield f"{limits}: {size} in {chunk[:9]!r}: {data}"


def _nothing_left(decoder: Any) -> Iterator[str]:
    rest = decoder.unfinished
    if rest is not None and rest.line:
        yield f"after an error {rest.line[:9]!r} is kept"


def _refused(machine: SimpleNamespace) -> Iterator[str]:
    """A line with hidden line ends is refused in the midst, and no piece is taken twice."""
    decoder = machine.decoder.SSEDecoder()
    hidden = memoryview(b"\n\n\n\n").cast("H")
    fed(decoder, b"data: x", 7)
    decoder.feed(hidden)
    try:
        decoder.feed(b"y" * 3_000)
    except TypeError:
        if decoder.unfinished.line != b"data: x\n\n\n\n" + b"y" * 3_000:
            yield "a chunk that was refused is kept twice, or lost"
    else:
        yield "hidden line ends are kept"


def _before_wrong(machine: SimpleNamespace) -> Iterator[str]:
    """The blank line that a chunk begins with is taken, also if the next line is wrong."""
    for begun in (b"data: a\n", b"data: b\n\ndata: a\n", b"data: a\r\n"):
        for chunk in (b"\n\xff\n", b"\r\n\xff\n\n", b"\n" + b"x" * 40 + b"\n"):
            decoder = machine.decoder.SSEDecoder(line_bytes_max=30)
            decoder.feed(begun)
            found = [event.data for event in decoder.feed(chunk)]
            if found != ["a"]:
                yield f"{begun!r}, then {chunk[:9]!r}: {found}"
            try:
                decoder.feed(b"")
            except machine.errors.FramingError:
                yield from _nothing_left(decoder)
            else:
                yield f"{begun!r}, then {chunk[:9]!r}: no error"
