"""What can be wrong with a stream of events, and with how a decoder is used.

Every error of a stream is final for its decoder: what came after would be guesswork. `reset`
starts a new stream.
"""

from __future__ import annotations


class FramingError(ValueError):
    """A stream cannot be framed, an event cannot be written, or a decoder was misused."""


class InvalidUtf8Error(FramingError, UnicodeDecodeError):
    """Bytes that are not UTF-8, under the policy `strict`.

    It is a `UnicodeDecodeError`, so code that catches those needs no change. `object` holds the
    offending bytes alone; `start` and `end` count from the start of the stream.

    Attributes:
        offset: The place of the first offending byte, in bytes from the start of the stream.
    """

    def __init__(self, wrong: bytes, offset: int, reason: str) -> None:
        UnicodeDecodeError.__init__(self, "utf-8", wrong, offset, offset + len(wrong), reason)
        self.offset = offset

    def __str__(self) -> str:
        return (
            f"invalid UTF-8 at byte {self.offset} of the stream ({self.reason}: "
            f"{self.object.hex(' ')}); errors='replace' reads on, as browsers do"
        )

    def __reduce__(self) -> tuple[type[InvalidUtf8Error], tuple[bytes, int, str]]:
        return type(self), (self.object, self.offset, self.reason)


class TooLongError(FramingError):
    """A line, an event's data or an id is longer than its limit.

    Attributes:
        limit: The name of the limit, a keyword of the decoder.
        maximum: Its value, in the unit that its name ends with.
    """

    def __init__(self, limit: str, maximum: int) -> None:
        self.limit = limit
        self.maximum = maximum

    def __str__(self) -> str:
        what, unit = _LIMITED[self.limit]
        return (
            f"{what} has more than {self.maximum} {unit} ({self.limit}): "
            "raise the limit if such streams are expected"
        )


_LIMITED = {
    "line_bytes_max": ("a line", "bytes"),
    "event_chars_max": ("the data of an event", "characters"),
    "id_chars_max": ("an id", "characters"),
}


class StreamEndedError(FramingError):
    """Bytes were fed after `finish`: a stream ends once."""

    def __str__(self) -> str:
        return "feed after finish: the stream has ended; use a new decoder or reset()"
