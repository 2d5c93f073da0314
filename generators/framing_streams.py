"""Byte streams for decoders: the pieces that they are made of, random ones, and ways to cut them.

The pieces are what the rules tell apart, and what decoders are known to take for it: the line
ends of other worlds, fields with a space too many, bytes that are no character.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

FIELDS: Final = (b"data", b"event", b"id", b"retry")

PIECES: Final = (
    b"\n",
    b"\r",
    b":",
    b" ",
    *FIELDS,
    b"x",
    b"7",
    b"\x00",
    b"\xef",
    b"\xbb",
    b"\xbf",
    b"\xed",
    b"\xa0",
)
"""What exploration takes its steps with."""

PHRASES: Final = (
    *PIECES,
    b"\n\n",
    b"\n\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\r\r",
    b"data: ",
    b"data: ",
    b"data: a\n\n",
    b"data: bc\r\n\r\n",
    b"data: a\n\ndata: b\n\ndata: ",
    b"data: a\r\n\r\ndata: b\r\n\r\ndata: ",
    b"data: \xe6\xa3\x80\n\n",
    b"data:",
    b"data:  ",
    b"data\n",
    b"id: 1\n",
    b"id: ab\n",
    b"id\n",
    b"event: e\n",
    b"event:\n",
    b"retry: 10\n",
    b"retry: 007\r\n",
    b"retry: +5\n",
    b"retry: 5 \n",
    b"retry:\n",
    b"retry: \xef\xbc\x95\n",
    b"retry: \xc2\xb2\n",
    b"retry: 1_0\n",
    b": ping\n\n",
    b":\n",
    b"Data: no\n",
    b"data : no\n",
    b"dat",
    b"a: ",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xa9",
    b"\xc2\x85",
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x1d",
    b"\x1e",
    b"\t",
    b"\xf0\x9f\x98\x80",
    b"\xe4\xbd\xa0\xe5\xa5\xbd",
)
"""What random streams are made of."""

WRONG: Final = (
    b"\xff",
    b"\x80",
    b"\xc0\xaf",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf0\x9f",
)
"""Bytes that are no character."""


def random_stream(random: Random, *, wrong: bool, pieces_max: int = 14) -> bytes:
    """A stream of some phrases, or a regular one with something in it that does not belong.

    With bytes that are no character, if `wrong`. Decoders have shortcuts for regular streams, and
    a shortcut is where a fault stays hidden.
    """
    phrases = PHRASES + WRONG if wrong else PHRASES
    if random.random() < 0.5:
        return b"".join(random.choices(phrases, k=random.randint(1, pieces_max)))
    end = random.choice((b"\n", b"\n", b"\r\n", b"\r"))
    before = random.choice((b"", b"", b"id: 1" + end, b"event: e" + end))
    texts = random.choices((b"", b"a", b"bc", b"\xe6\xa3\x80", b"x:y z", b"7" * 9), k=9)
    events = [b"data: " + text + end + end for text in texts[: random.randint(2, 9)]]
    if random.random() < 0.7:
        strange = random.choice((*phrases, end, end + b"x", b"data: y" + end))
        place = random.randrange(len(events))
        at = random.randint(0, len(events[place]))
        events[place] = events[place][:at] + strange + events[place][at:]
    start = b"\xef\xbb\xbf" if random.random() < 0.1 else b""
    return start + before + b"".join(events)


def random_cut(random: Random, wire: bytes) -> tuple[bytes, ...]:
    """The stream in chunks, some of them empty, most of them short or most of them long."""
    size = random.choice((1, 2, 3, 8, 20, 40, 200))
    chunks, at = [], 0
    while at < len(wire):
        step = random.randint(0 if random.random() < 0.1 else 1, size)
        chunks.append(wire[at : at + step])
        at += step
    return tuple(chunks)


def whole(wire: bytes) -> tuple[bytes, ...]:
    """One chunk."""
    return (wire,)


def bytewise(wire: bytes) -> tuple[bytes, ...]:
    """One chunk a byte."""
    return tuple(wire[at : at + 1] for at in range(len(wire)))


def pieces_of(wire: bytes, size_bytes: int) -> tuple[bytes, ...]:
    """Chunks of one size, the last one aside."""
    return tuple(wire[at : at + size_bytes] for at in range(0, len(wire), size_bytes))


def in_two(wire: bytes) -> Iterator[tuple[bytes, ...]]:
    """Every cut in two, an empty first and an empty last chunk included."""
    for cut in range(len(wire) + 1):
        yield wire[:cut], wire[cut:]


def regular_with_a_stranger(filling: int = 40) -> Iterator[tuple[bytes, ...]]:
    """Regular streams with one thing in them that does not belong, at every place in turn.

    One of the texts is as long as `filling`; in its inside no place is tried. Cut so that a chunk
    begins within a value, and some so that the next one does, too; also with an id and a type
    before it, or a byte order mark at its start.
    """
    strangers = (b"\n", b"\r", b"\r\n", b"\xff", b"\xef\xbb\xbf", b"x", b"7777777", b"\nid: 2\n")
    for end in (b"\n", b"\r\n", b"\r"):
        run = b"".join(
            b"data: " + text + end + end for text in (b"ab", b"\xe6\xa3", b"", b"e" * filling)
        )
        run = run.replace(b"\xe6\xa3", b"\xe6\xa3\x80")
        places = [at for at in range(len(run) + 1) if run[at - 3 : at + 3] != b"e" * 6]
        for before in (b"", b"\xef\xbb\xbf", b"id: 1" + end + b"event: f" + end):
            begun = len(before) + len(b"data: a")
            for stranger in strangers:
                for at in places[0 if before else 1 :]:
                    wire = before + run[:at] + stranger + run[at:]
                    second = begun + (len(wire) - begun) * 2 // 3
                    yield wire[:begun], wire[begun:]
                    if not before:
                        yield wire[:begun], wire[begun:second], wire[second:]


def long_lines() -> Iterator[tuple[bytes, ...]]:
    """Lines of some length in many chunks of one size, and one event more.

    Decoders keep a line that has not ended in pieces, and join those now and then.
    """
    for length in (1, 5, 6, 7, 30, 63, 64, 65, 200, 1_500, 7_000):
        for name in (b"data: ", b"data:", b": ", b"x"):
            for end in (b"\n", b"\r\n"):
                line = name + b"e" * length + b"\xe6\xa3\x80" + end
                wire = line + line + end + b"data: z" + end + end
                for size in (1, 2, 3, 5, 17, 70) if length < 2_000 else (70, 2_100, 4_000):
                    yield pieces_of(wire, size)
