"""What a decoder hands out."""

from __future__ import annotations

from msgspec import Struct


class Event(Struct, frozen=True, gc=False):
    """One event of a stream, framed and not interpreted: its data proves nothing about a run.

    A `msgspec.Struct`, because making these objects is most of a decoder's work: 0.1 µs, a third
    of a class with slots.

    Attributes:
        data: The data lines, joined with LF. May be empty.
        event: The type; `message` where the stream names none.
        id: The last event id that was in force at the end of the event; persists over events.
    """

    data: str
    event: str = "message"
    id: str = ""


class Comment(Struct, frozen=True, gc=False):
    """A comment line, often a heartbeat: what follows its colon, as it stands."""

    comment: str


class Unfinished(Struct, frozen=True):
    """What arrived after the last blank line; the end of a stream drops it.

    Attributes:
        line: The bytes of the line that has not ended.
        data: The data lines that have.
        event: The type named so far; empty if none.
        id: The id that the next blank line would put in force.
    """

    line: bytes
    data: tuple[str, ...]
    event: str
    id: str
