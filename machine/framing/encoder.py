"""Events to bytes: the other direction, strict about what cannot be framed.

What it writes, the decoder reads back unchanged; what would read back otherwise it refuses. Data
may hold any text but CR, which no stream can carry inside data: it would come back as LF.
"""

from __future__ import annotations

from doneness.machine.framing.errors import FramingError
from doneness.machine.framing.events import Event


def encode_event(event: Event, *, after_id: str = "") -> bytes:
    """One event as it goes on the wire, its blank line included.

    Args:
        event: The event.
        after_id: The id that is in force before it: the id is written where it changes.

    Raises:
        FramingError: it cannot be framed: CR or LF in the type or the id, CR in the data, NUL in
            the id, an empty type, or half a surrogate pair anywhere.
    """
    lines = []
    if event.id != after_id:
        lines.append(_line("id", event.id, "\r\n\0"))
    if event.event != "message":
        if not event.event:
            raise FramingError("an event type cannot be empty: leave it out for `message`")
        lines.append(_line("event", event.event, "\r\n"))
    if "\r" in event.data:
        raise FramingError(
            "data cannot hold CR: it ends a line and would come back as LF; encode it, in JSON \\r"
        )
    lines += [f"data: {line}" for line in event.data.split("\n")]
    return _bytes("\n".join(lines) + "\n\n")


def encode_comment(comment: str = "") -> bytes:
    """One comment, a heartbeat for instance: a line of its own, no event.

    Raises:
        FramingError: it holds CR or LF, or half a surrogate pair.
    """
    _checked("a comment", comment, "\r\n")
    return _bytes(f":{comment}\n")


def encode_retry(milliseconds: int) -> bytes:
    """The reconnection time.

    Raises:
        FramingError: it is negative, or has more digits than decoders take.
    """
    if not 0 <= milliseconds < 10**19:
        raise FramingError(f"retry must be 0 to 10^19 - 1 milliseconds, not {milliseconds!r}")
    return f"retry: {milliseconds}\n".encode()


class SSEEncoder:
    """Writes one stream: events in order, each id once for as long as it is in force.

    Attributes:
        last_event_id: The id in force.
    """

    __slots__ = ("last_event_id",)

    def __init__(self) -> None:
        self.last_event_id = ""

    def encode(self, event: Event) -> bytes:
        """The event's bytes.

        Raises:
            FramingError: it cannot be framed; nothing is changed then.
        """
        written = encode_event(event, after_id=self.last_event_id)
        self.last_event_id = event.id
        return written


def _line(name: str, value: str, forbidden: str) -> str:
    _checked(f"an event's {name}", value, forbidden)
    return f"{name}: {value}"


def _checked(what: str, value: str, forbidden: str) -> None:
    for character in forbidden:
        if character in value:
            name = {"\r": "CR", "\n": "LF", "\0": "NUL"}[character]
            raise FramingError(f"{what} cannot hold {name}: {value!a}")


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FramingError(
            f"half a surrogate pair cannot be written as UTF-8: {text[error.start]!a}"
        ) from None
