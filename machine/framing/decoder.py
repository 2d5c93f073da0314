"""Bytes in, events out: the framing of a stream of server-sent events (contract §5, WHATWG §9.2.6).

The idea: decode each chunk once, as it comes; split where lines end; never look at a character
twice. What has not ended is kept in pieces and joined once, when its line ends, so a line of many
megabytes costs as much per byte as a short one. Between two events most streams repeat one shape,
`data: …` and a blank line; a whole region of that shape is split in one step, *after* counting its
line ends has proven that it holds nothing else. Everything else goes line by line.

The chunks are invisible: any partition of the same bytes gives the same events, the same state and
the same error. An event is handed out with the byte that ends its blank line, CR included: the LF
that may follow is dropped when it comes. An error does not take earlier events with it: they are
returned, and the error is raised by the next call.
"""

from __future__ import annotations

from codecs import utf_8_decode
from itertools import repeat
from typing import Final, Generic, Literal, TypeVar, overload

from doneness.machine.framing.errors import (
    FramingError,
    InvalidUtf8Error,
    StreamEndedError,
    TooLongError,
)
from doneness.machine.framing.events import Comment, Event, Unfinished

LINE_CHARS_MAX: Final = 64 * 2**20
"""One line: room for an image in base64; JSON events are a thousand times shorter."""
EVENT_CHARS_MAX: Final = 128 * 2**20
"""The data of one event."""
ID_CHARS_MAX: Final = 256 * 2**10
"""An id: it goes back in a request header, which servers cut at 8 to 64 KiB."""
RETRY_DIGITS_MAX: Final = 19
"""Digits of a reconnection time without leading zeros; 19 always fit in 64 bits, as in browsers."""

_BOM: Final = "\ufeff"
_DATA: Final = "data: "
_PIECE_CHARS: Final = 4096
_PIECES_MAX: Final = 64

_ItemT = TypeVar("_ItemT", Event, Event | Comment)


class SSEDecoder(Generic[_ItemT]):
    """Frames one stream; knows nothing of connections, JSON or `[DONE]`.

    Args:
        errors: `strict`: bytes that are not UTF-8 end the stream with an error that names their
            place. `replace`: they become U+FFFD, as in browsers.
        comments: Whether comment lines are handed out too, in their place among the events.
        last_event_id: The id that is in force at the start, where a stream is resumed.
        line_chars_max: The longest line, in characters, without its end.
        event_chars_max: The longest data of one event, its joining LFs included.
        id_chars_max: The longest id.
        retry_digits_max: A `retry` of more digits, leading zeros apart, is ignored, as browsers
            ignore one that does not fit.

    Attributes:
        last_event_id: The id that the last blank line put in force.
        retry_ms: The last valid reconnection time, in milliseconds; None before the first.
    """

    __slots__ = (
        "_after_cr",
        "_at_start",
        "_blocks",
        "_carry",
        "_comments",
        "_data",
        "_data_chars",
        "_errors",
        "_event_chars_max",
        "_failure",
        "_granted_chars",
        "_id",
        "_id_chars_max",
        "_in_value",
        "_initial_id",
        "_line_chars_max",
        "_offset",
        "_parts",
        "_parts_chars",
        "_retry_digits_max",
        "_room_chars",
        "_type",
        "last_event_id",
        "retry_ms",
    )

    @overload
    def __init__(
        self: SSEDecoder[Event],
        errors: Literal["strict", "replace"] = ...,
        *,
        comments: Literal[False] = ...,
        last_event_id: str = ...,
        line_chars_max: int = ...,
        event_chars_max: int = ...,
        id_chars_max: int = ...,
        retry_digits_max: int = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: SSEDecoder[Event | Comment],
        errors: Literal["strict", "replace"] = ...,
        *,
        comments: bool,
        last_event_id: str = ...,
        line_chars_max: int = ...,
        event_chars_max: int = ...,
        id_chars_max: int = ...,
        retry_digits_max: int = ...,
    ) -> None: ...

    def __init__(
        self,
        errors: Literal["strict", "replace"] = "strict",
        *,
        comments: bool = False,
        last_event_id: str = "",
        line_chars_max: int = LINE_CHARS_MAX,
        event_chars_max: int = EVENT_CHARS_MAX,
        id_chars_max: int = ID_CHARS_MAX,
        retry_digits_max: int = RETRY_DIGITS_MAX,
    ) -> None:
        if errors not in ("strict", "replace"):
            raise ValueError(f"errors must be 'strict' or 'replace', not {errors!r}")
        for name, limit in (
            ("line_chars_max", line_chars_max),
            ("event_chars_max", event_chars_max),
            ("id_chars_max", id_chars_max),
            ("retry_digits_max", retry_digits_max),
        ):
            if limit < 1:
                raise ValueError(f"{name} must be at least 1, not {limit!r}")
        self._errors = errors
        self._comments = comments
        self._initial_id = last_event_id
        self._line_chars_max = line_chars_max
        self._event_chars_max = event_chars_max
        self._id_chars_max = id_chars_max
        self._retry_digits_max = retry_digits_max
        self.reset()

    def reset(self) -> None:
        """Start a new stream; nothing of the old one is left."""
        self._failure: FramingError | None = None
        self._at_start = True
        self._after_cr = False
        self._carry = b""  # the first bytes of a character whose last ones have not come
        self._offset = 0  # bytes decoded so far; `_carry` begins here
        self._parts: list[str] = []  # the pieces of the line that has not ended
        self._parts_chars = 0  # their length, when it was last counted
        self._granted_chars = 0  # what was to be added before it is counted again
        self._room_chars = 0  # what is left of that
        self._blocks = 0  # how many pieces at the front are joined ones
        self._in_value = False  # the pieces are the value of a data field, its name taken off
        self._data: list[str] = []
        self._data_chars = 0  # with one LF after each line
        self._type = ""
        self._id = self.last_event_id = self._initial_id
        self.retry_ms: int | None = None

    def feed(self, chunk: bytes) -> list[_ItemT]:
        """The events that these bytes complete, in order.

        Raises:
            InvalidUtf8Error: the bytes are not UTF-8, under `strict`.
            TooLongError: a line, an event or an id is longer than its limit.
            StreamEndedError: `finish` was called before.

        If the same bytes complete events before they go wrong, those are returned, and the next
        call raises. After an error every call raises it again, until `reset`.
        """
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._carry:
            chunk = self._carry + chunk
        try:
            text, used = utf_8_decode(chunk, self._errors)
        except UnicodeDecodeError as error:
            return self._up_to(error, chunk)
        except TypeError:
            kind = type(chunk).__name__
            raise TypeError(f"feed takes bytes, not {kind}: encode text as UTF-8") from None
        self._offset += used
        if used < len(chunk):
            self._carry = bytes(chunk[used:])
            if self._carry[0] == 0xED and self._carry[1:] > b"\x9f":
                return self._half_a_surrogate(text)
        elif self._carry:
            self._carry = b""
        return self._take(text)

    def finish(self) -> list[_ItemT]:
        """The stream has ended. What no blank line has completed is no event: always empty.

        Raises:
            InvalidUtf8Error: it ended inside a character, under `strict`.
            FramingError: an error that was not raised yet.
        """
        if isinstance(self._failure, StreamEndedError):
            return []
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._carry and self._errors == "strict":
            self._failure = InvalidUtf8Error(self._carry, self._offset, "unexpected end of data")
            raise self._failure
        self._failure = StreamEndedError()
        return []

    @property
    def unfinished(self) -> Unfinished | None:
        """What arrived after the last blank line; None if nothing that could become an event."""
        line = (_DATA if self._in_value else "") + "".join(self._parts)
        found = Unfinished(line, tuple(self._data), self._type, self._id, self._carry)
        nothing = Unfinished("", (), "", self.last_event_id, b"")
        return None if found == nothing else found

    def snapshot(self) -> tuple[object, ...]:
        """All that decides what comes next: equal for decoders that no bytes can tell apart."""
        return (
            self.unfinished,
            self.last_event_id,
            self.retry_ms,
            self._at_start,
            self._after_cr,
            self._offset,
            None if self._failure is None else (type(self._failure), str(self._failure)),
        )

    # From here on: text, in which all bytes before `_carry` have been decoded.

    def _take(self, text: str) -> list[_ItemT]:
        """The events that this text completes."""
        if (self._at_start or self._after_cr) and text:
            text = self._beginning(text)
        if "\n" in text or "\r" in text:
            events: list[_ItemT] = []
            self._lines(text, events)
            if self._failure is not None and not events:
                raise self._failure
            return events
        if text:
            self._keep(text)
            if self._failure is not None:
                raise self._failure
        return []

    def _beginning(self, text: str) -> str:
        """The text without a byte order mark at the start of the stream, or an LF after a CR."""
        dropped = _BOM if self._at_start else "\n"
        self._at_start = self._after_cr = False
        return text.removeprefix(dropped)

    def _keep(self, text: str) -> None:
        """Keep a piece of the line that has not ended."""
        parts = self._parts
        if not parts:
            self._parts_chars = self._blocks = 0
            self._room_chars = self._granted_chars = min(_PIECE_CHARS, self._line_chars_max)
        self._room_chars -= len(text)
        if not parts and text.startswith(_DATA):
            self._in_value = True
            text = text[len(_DATA) :]
        parts.append(text)
        if self._room_chars < 0:
            self._count()

    def _count(self) -> None:
        """Hold the length of the unfinished line against its limit; join small pieces of it."""
        self._parts_chars += self._granted_chars - self._room_chars
        left = self._line_chars_max - self._parts_chars
        if left < 0:
            self._failure = TooLongError("line_chars_max", self._line_chars_max)
        self._room_chars = self._granted_chars = min(_PIECE_CHARS, left)
        if len(self._parts) - self._blocks > _PIECES_MAX:
            self._parts[self._blocks :] = ["".join(self._parts[self._blocks :])]
            self._blocks += 1

    def _lines(self, text: str, events: list[_ItemT]) -> None:
        """Take text that holds at least one line end."""
        if "\r" in text:
            self._after_cr = text[-1] == "\r"
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        start = 0
        if self._parts:
            end = text.index("\n")
            self._end_line(text[:end], events)
            start = end + 1
        if text.startswith(_DATA, start) and self._between_events():
            start = self._region(text, start, events)
        if start == len(text) or self._failure is not None:
            return
        lines = text[start:].split("\n")
        last = lines.pop()
        if lines:
            self._whole_lines(lines, events)
        if last and self._failure is None:
            self._keep(last)

    def _end_line(self, text: str, events: list[_ItemT]) -> None:
        """Take the last piece of the line that was kept in pieces."""
        self._room_chars -= len(text)
        if self._room_chars < 0:
            self._count()
            if self._failure is not None:
                return
        self._parts.append(text)
        line = "".join(self._parts)
        self._parts.clear()
        if self._in_value:
            self._in_value = False
            self._value(line)
        else:
            self._whole_lines([line], events)

    def _between_events(self) -> bool:
        """Whether nothing was said since the last blank line."""
        return not self._data and not self._type and self._id == self.last_event_id

    def _region(self, text: str, start: int, events: list[_ItemT]) -> int:
        """Take events of one data line each, if nothing else is there; where to read on.

        Each value is followed by two line ends, so twice as many line ends as values, in a text
        that starts with a value and ends with a blank line, prove that no value holds one.
        """
        end = text.rfind("\n\n", start)
        if end < 0 or len(text) > min(self._line_chars_max, self._event_chars_max):
            return start
        values = text[start + len(_DATA) : end].split("\n\ndata: ")
        if text.count("\n", start, end) != 2 * (len(values) - 1):
            return start
        if self._id:
            events += map(Event, values, repeat("message"), repeat(self._id))
        else:
            events += map(Event, values)
        return end + 2

    def _whole_lines(self, lines: list[str], events: list[_ItemT]) -> None:
        """Take lines that have ended, one after the other."""
        for line in lines:
            if len(line) > self._line_chars_max:
                self._failure = TooLongError("line_chars_max", self._line_chars_max)
            elif line.startswith(_DATA):
                self._value(line[len(_DATA) :])
            elif line:
                self._field(line, events)
            else:
                self._blank_line(events)
            if self._failure is not None:
                return

    def _blank_line(self, events: list[_ItemT]) -> None:
        """The id is in force from here on; there is an event if there was data."""
        self.last_event_id = self._id
        if self._data:
            events.append(Event("\n".join(self._data), self._type or "message", self._id))
            self._data.clear()
            self._data_chars = 0
        self._type = ""

    def _value(self, value: str) -> None:
        """One line of data."""
        self._data.append(value)
        self._data_chars += len(value) + 1
        if self._data_chars - 1 > self._event_chars_max:
            self._failure = TooLongError("event_chars_max", self._event_chars_max)

    def _field(self, line: str, events: list[_ItemT]) -> None:
        """A line that is not blank."""
        name, _, value = line.partition(":")
        if not name:
            if self._comments:
                events.append(Comment(value))  # type: ignore[arg-type] # asked for: _ItemT has it
            return
        value = value.removeprefix(" ")
        if name == "data":
            self._value(value)
        elif name == "event":
            self._type = value
        elif name == "id":
            if "\0" not in value:
                if len(value) > self._id_chars_max:
                    self._failure = TooLongError("id_chars_max", self._id_chars_max)
                    return
                self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            digits = value.lstrip("0")
            if len(digits) <= self._retry_digits_max:
                self.retry_ms = int(digits or "0")

    # Bytes that are no characters.

    def _up_to(self, error: UnicodeDecodeError, chunk: bytes) -> list[_ItemT]:
        """Take what stands before the first wrong byte, and fail there."""
        text = utf_8_decode(chunk[: error.start])[0]
        self._offset += error.start
        self._carry = b""
        wrong = bytes(chunk[error.start : error.end])
        return self._fail(InvalidUtf8Error(wrong, self._offset, error.reason), text)

    def _half_a_surrogate(self, text: str) -> list[_ItemT]:
        """ED and a byte from A0 can never become a character; CPython waits for a third byte."""
        wrong, self._carry = self._carry, b""
        if self._errors == "replace":
            self._offset += len(wrong)
            return self._take(text + "\ufffd\ufffd")
        failure = InvalidUtf8Error(wrong[:1], self._offset, "invalid continuation byte")
        return self._fail(failure, text)

    def _fail(self, failure: FramingError, text: str) -> list[_ItemT]:
        """Take the text before an error, unless that fails itself."""
        events = self._take(text)
        if self._failure is None:
            self._failure = failure
        if not events:
            raise self._failure
        return events
