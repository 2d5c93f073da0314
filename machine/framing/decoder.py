"""Bytes in, events out: the framing of a stream of server-sent events (contract §5, WHATWG §9.2.6).

The idea: a chunk that ends no line is kept as it is, and that is all that happens to it. Lines are
found in bytes, where CR and LF can be nothing else, and decoded once, when they have ended; so a
character cut in two needs no care, and a line of many megabytes costs as much per byte as a short
one. Between two events most streams repeat one shape, `data: …` and a blank line: a region of that
shape is split in one step, after one look has proven that it holds nothing else. Everything else
goes line by line.

The chunks are invisible: any partition of the same bytes gives the same events, the same state and
the same error. An event is handed out with the byte that ends its blank line, CR included: the LF
that may follow is dropped when it comes. Bytes that are not UTF-8 are noticed when their line ends,
or the stream. An error does not take earlier events with it: they are returned, and the next call
raises.
"""

from __future__ import annotations

import re
from itertools import islice, repeat
from typing import Final, Generic, Literal, TypeVar, overload

from doneness.machine.framing.errors import (
    FramingError,
    InvalidUtf8Error,
    StreamEndedError,
    TooLongError,
)
from doneness.machine.framing.events import Comment, Event, Unfinished

LINE_BYTES_MAX: Final = 64 * 2**20
"""One line: room for an image in base64; JSON events are a thousand times shorter."""
EVENT_CHARS_MAX: Final = 128 * 2**20
"""The data of one event."""
ID_CHARS_MAX: Final = 256 * 2**10
"""An id: it goes back in a request header, which servers cut at 8 to 64 KiB."""
RETRY_DIGITS_MAX: Final = 19
"""Digits of a reconnection time without leading zeros; 19 always fit in 64 bits, as in browsers."""

_BOM: Final = b"\xef\xbb\xbf"
_DATA: Final = "data: "
_DATA_BYTES: Final = _DATA.encode()
_LINE_END: Final = re.compile(rb"\r\n?|\n")
_NEVER: Final = -1

_PIECES_BYTES: Final = 16 * 1024
_PIECES: Final = 16
_SHORT_BYTES: Final = 64
_SMALL_BYTES: Final = 64
"""Pieces of a line are joined now and then if they are smaller than that on average."""

_ItemT = TypeVar("_ItemT", Event, Event | Comment)


class SSEDecoder(Generic[_ItemT]):
    """Frames one stream; knows nothing of connections, JSON or `[DONE]`.

    Args:
        errors: `strict`: bytes that are not UTF-8 end the stream with an error that names their
            place. `replace`: they become U+FFFD, as in browsers.
        comments: Whether comment lines are handed out too, in their place among the events.
        last_event_id: The id that is in force at the start, where a stream is resumed.
        line_bytes_max: The longest line, in bytes, without its end.
        event_chars_max: The longest data of one event, in characters, its joining LFs included.
        id_chars_max: The longest id, in characters.
        retry_digits_max: A `retry` of more digits, leading zeros apart, is ignored, as browsers
            ignore one that does not fit.

    Attributes:
        last_event_id: The id that the last blank line put in force.
        retry_ms: The last valid reconnection time, in milliseconds; None before the first.
    """

    __slots__ = (
        "_after_cr",
        "_blocks",
        "_comments",
        "_data",
        "_data_chars",
        "_errors",
        "_event_chars_max",
        "_failure",
        "_id",
        "_id_chars_max",
        "_in_value",
        "_initial_id",
        "_line_at",
        "_line_bytes_max",
        "_offset",
        "_parts",
        "_plain_bytes",
        "_plain_until",
        "_region_bytes_max",
        "_retry_digits_max",
        "_start",
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
        line_bytes_max: int = ...,
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
        line_bytes_max: int = ...,
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
        line_bytes_max: int = LINE_BYTES_MAX,
        event_chars_max: int = EVENT_CHARS_MAX,
        id_chars_max: int = ID_CHARS_MAX,
        retry_digits_max: int = RETRY_DIGITS_MAX,
    ) -> None:
        if errors not in ("strict", "replace"):
            raise ValueError(f"errors must be 'strict' or 'replace', not {errors!r}")
        for name, limit in (
            ("line_bytes_max", line_bytes_max),
            ("event_chars_max", event_chars_max),
            ("id_chars_max", id_chars_max),
            ("retry_digits_max", retry_digits_max),
        ):
            if limit < 1:
                raise ValueError(f"{name} must be at least 1, not {limit!r}")
        self._errors = errors
        self._comments = comments
        self._initial_id = last_event_id
        self._line_bytes_max = line_bytes_max
        self._event_chars_max = event_chars_max
        self._id_chars_max = id_chars_max
        self._retry_digits_max = retry_digits_max
        self._plain_bytes = min(_PIECES_BYTES, line_bytes_max)
        self._region_bytes_max = min(line_bytes_max, event_chars_max)
        self.reset()

    def reset(self) -> None:
        """Start a new stream; nothing of the old one is left."""
        self._failure: FramingError | None = None
        self._offset = 0  # bytes taken so far
        self._plain_until = _NEVER  # up to this offset, bytes that end no line are simply kept
        self._start: bytes | None = b""  # until it is known whether the stream starts with a BOM
        self._after_cr = False  # an LF that comes next belongs to a line end that was taken
        self._line_at = 0  # the offset of the line that has not ended
        self._parts: list[bytes] = []  # its pieces
        self._blocks = 0  # how many of them, from the first on, are joined ones
        self._in_value = False  # they are the value of a data field, its name taken off
        self._data: list[str] = []
        self._data_chars = 0  # with one LF after each line
        self._type = ""
        self._id = self.last_event_id = self._initial_id
        self.retry_ms: int | None = None

    def feed(self, chunk: bytes) -> list[_ItemT]:
        """The events that these bytes complete, in order.

        Raises:
            InvalidUtf8Error: a line that has ended is not UTF-8, under `strict`.
            TooLongError: a line, an event or an id is longer than its limit.
            StreamEndedError: `finish` was called before.

        If the same bytes complete events before they go wrong, those are returned, and the next
        call raises. After an error every call raises it again, until `reset`.
        """
        if type(chunk) is not bytes:
            chunk = _as_bytes(chunk)
        if 10 in chunk or 13 in chunk or (end := self._offset + len(chunk)) > self._plain_until:
            return self._values(chunk) or self._feed(chunk)
        self._offset = end
        self._parts.append(chunk)
        return []

    def finish(self) -> list[_ItemT]:
        """The stream has ended. What no blank line has completed is no event: always empty.

        Raises:
            InvalidUtf8Error: the line that it ended in is not UTF-8, under `strict`.
            FramingError: an error that was not raised yet.
        """
        if isinstance(self._failure, StreamEndedError):
            return []
        if self._failure is None:
            self._failure = self._invalid(self._start or b"".join(self._parts))
        if self._failure is not None:
            self._plain_until = _NEVER
            raise self._failure.with_traceback(None)
        self._failure = StreamEndedError()
        self._plain_until = _NEVER
        return []

    @property
    def unfinished(self) -> Unfinished | None:
        """What arrived after the last blank line; None if nothing did that could matter."""
        line = self._start or b"".join([_DATA_BYTES * self._in_value, *self._parts])
        found = Unfinished(line, tuple(self._data), self._type, self._id)
        return None if found == Unfinished(b"", (), "", self.last_event_id) else found

    def snapshot(self) -> tuple[object, ...]:
        """All that decides what comes next: equal for decoders that no bytes can tell apart."""
        if self._failure is not None:
            return self.last_event_id, self.retry_ms, type(self._failure), str(self._failure)
        begun = self._start is None
        return (
            self.unfinished,
            self.last_event_id,
            self.retry_ms,
            begun,
            self._after_cr,
            self._offset,
        )

    def _values(self, chunk: bytes) -> list[_ItemT] | None:
        """The events that a chunk completes, if each is one data line; else nothing, unchanged.

        A shortcut for the common case, a chunk from within one value to within another. Cut
        wherever a blank line and a value's name meet, its pieces are values if no line end is
        left in them.
        """
        if not self._in_value or self._data or self._failure is not None or 10 not in chunk:
            return None
        end = self._offset + len(chunk)
        if end - self._line_at > self._region_bytes_max:
            return None
        crlf = 13 in chunk
        blank, cut = (b"\r\n\r\n", b"\r\n\r\ndata: ") if crlf else (b"\n\n", b"\n\ndata: ")
        if len(chunk) > _SHORT_BYTES:
            # One byte is looked for much faster than several.
            first = chunk.index(10) - crlf
            begins = cut if chunk.startswith(cut, first) else b""
            blank = begins or (blank if chunk.startswith(blank, first) else b"")
            head, rest = chunk[:first], chunk[first + len(blank) :]
        else:
            head, begins, rest = chunk.partition(cut)
            if not begins:
                head, blank, rest = chunk.partition(blank)
        if not blank or (10 in rest and not begins):
            return None
        if 10 in head or (crlf and 13 in head):
            return None
        more: list[bytes] = []
        if 10 in rest or (crlf and 13 in rest):
            more = rest.split(cut)
            joined = b"".join(more)
            if 10 in joined or (crlf and 13 in joined):
                return None
            rest = more.pop()
        parts = self._parts
        parts.append(head)
        last_id = self._id
        try:
            value = b"".join(parts).decode()
            events: list[_ItemT] = [Event(value, self._type or "message", last_id)]
            if more:
                events += map(Event, map(bytes.decode, more), repeat("message"), repeat(last_id))
        except UnicodeDecodeError:
            parts.pop()
            return None
        self._type = ""
        self.last_event_id = last_id
        self._offset = end
        if begins:
            self._line_at = start = end - len(rest) - 6
            self._plain_until = start + self._plain_bytes
            self._parts = [rest]
            self._blocks = 0
        else:
            parts.clear()
            self._begin(rest)
        return events

    def _feed(self, chunk: bytes) -> list[_ItemT]:
        """Feed a chunk that is not simply kept."""
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        self._offset += len(chunk)
        if self._start is not None:
            chunk = self._start + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._start = chunk
                return []
            self._start = None
            if chunk.startswith(_BOM):
                chunk = chunk[len(_BOM) :]
                self._line_at = len(_BOM)
        elif self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == 10:
                chunk = chunk[1:]
                self._line_at += 1
        events: list[_ItemT] = []
        if 10 in chunk or 13 in chunk:
            self._lines(chunk, events)
        elif chunk:
            self._keep(chunk)
        if self._failure is not None:
            self._plain_until = _NEVER
            self._parts.clear()
            self._in_value = False
            if not events:
                raise self._failure
        return events

    def _begin(self, piece: bytes) -> None:
        """Begin a line with the last bytes taken, none of which ends it; there may be none."""
        self._line_at = self._offset - len(piece)
        self._blocks = 0
        self._in_value = False
        self._plain_until = _NEVER
        if piece:
            self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        """Keep the last bytes taken, a piece of a line that has not ended."""
        parts: list[bytes] = self._parts
        if not self._in_value and self._offset - self._line_at - len(piece) < len(_DATA_BYTES):
            piece = b"".join([*parts, piece])
            parts.clear()
            self._in_value = piece.startswith(_DATA_BYTES)
            if self._in_value:
                piece = piece[len(_DATA_BYTES) :]
        parts.append(piece)
        kept = self._offset - self._line_at
        if kept < _SMALL_BYTES * len(parts) and len(parts) - self._blocks > _PIECES:
            parts[self._blocks :] = [b"".join(parts[self._blocks :])]
            self._blocks += 1
        limit = self._line_at + self._line_bytes_max
        if self._offset > limit:
            self._failure = TooLongError("line_bytes_max", self._line_bytes_max)
        elif not self._in_value and kept < len(_DATA_BYTES):
            self._plain_until = _NEVER  # its name may still come
        else:
            self._plain_until = min(limit, self._offset + self._plain_bytes)

    def _lines(self, chunk: bytes, events: list[_ItemT]) -> None:
        """Take a chunk, the last bytes taken, with at least one line end."""
        raw = chunk
        if 13 in chunk:
            self._after_cr = chunk[-1] == 13
            chunk = chunk.replace(b"\r\n", b"\n")
            if 13 in chunk:
                chunk = chunk.replace(b"\r", b"\n")
        rest, taken = chunk, 0
        if self._parts:
            taken = 1
            end = chunk.find(b"\n")
            self._end_line(chunk[:end], self._offset - len(raw) + end, events)
            if self._failure is not None:
                return
            if chunk[end + 1 : end + 2] == b"\n":
                self._blank_line(events)
                end += 1
                taken = 2
            rest = chunk[end + 1 :]
        if 10 in rest:
            end = rest.rfind(b"\n") + 1
            self._whole_lines(rest[:end], raw, taken, events)
            if self._failure is not None:
                return
            rest = rest[end:]
        self._begin(rest)

    def _end_line(self, piece: bytes, end: int, events: list[_ItemT]) -> None:
        """Take the last piece of the line that was kept in pieces; it ends at offset `end`."""
        if end - self._line_at > self._line_bytes_max:
            self._failure = TooLongError("line_bytes_max", self._line_bytes_max)
            return
        self._parts.append(piece)
        line = b"".join(self._parts)
        try:
            text = line.decode("utf-8", self._errors)
        except UnicodeDecodeError:
            self._failure = self._invalid(line + b"\n")
            return
        self._parts.clear()
        if self._in_value:
            self._in_value = False
            self._value(text)
        else:
            self._line(text, events)

    def _whole_lines(self, lines: bytes, raw: bytes, taken: int, events: list[_ItemT]) -> None:
        """Take lines that begin and end in one chunk: `raw`, after so many line ends."""
        failure: FramingError | None = None
        if len(lines) > self._line_bytes_max:
            lines, failure = self._before_a_long_line(lines)
        try:
            text = lines.decode("utf-8", self._errors)
        except UnicodeDecodeError as error:
            text = lines[: lines.rfind(b"\n", 0, error.start) + 1].decode()
            failure = self._invalid_after(raw, taken + text.count("\n"))
        if text.startswith(_DATA) and self._between_events():
            text = self._region(text, events)
        for line in text.split("\n")[:-1]:
            if line:
                self._line(line, events)
            else:
                self._blank_line(events)
            if self._failure is not None:
                return
        self._failure = failure

    def _before_a_long_line(self, lines: bytes) -> tuple[bytes, FramingError | None]:
        """The lines before the first that is too long, and the failure; all if there is none."""
        taken = 0
        for line in lines.split(b"\n"):
            if len(line) > self._line_bytes_max:
                return lines[:taken], TooLongError("line_bytes_max", self._line_bytes_max)
            taken += len(line) + 1
        return lines, None

    def _between_events(self) -> bool:
        """Whether nothing was said since the last blank line."""
        return not self._data and not self._type and self._id == self.last_event_id

    def _region(self, text: str, events: list[_ItemT]) -> str:
        """Take events of one data line each, if nothing else is there; what is left to read.

        The region starts with a value's name and ends with a blank line. Cut wherever a blank
        line and a value's name meet, its pieces are values if no line end is left in them: this
        is looked up in all of them at once.
        """
        end = text.rfind("\n\n")
        if end < 0 or end > self._event_chars_max:
            return text
        values = text[len(_DATA) : end].split("\n\ndata: ")
        if "\n" in "".join(values):
            return text
        if self._id:
            events += map(Event, values, repeat("message"), repeat(self._id))
        else:
            events += map(Event, values)
        return text[end + 2 :]

    def _blank_line(self, events: list[_ItemT]) -> None:
        """The id is in force from here on; there is an event if there was data."""
        self.last_event_id = self._id
        if self._data:
            events.append(Event("\n".join(self._data), self._type or "message", self._id))
            self._data.clear()
            self._data_chars = 0
        self._type = ""

    def _line(self, line: str, events: list[_ItemT]) -> None:
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
            if "\0" in value:
                return
            if len(value) > self._id_chars_max:
                self._failure = TooLongError("id_chars_max", self._id_chars_max)
            else:
                self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            digits = value.lstrip("0")
            if len(digits) <= self._retry_digits_max:
                self.retry_ms = int(digits or "0")

    def _value(self, value: str) -> None:
        """The value of one data line."""
        self._data_chars += len(value) + 1
        if self._data_chars - 1 > self._event_chars_max:
            self._failure = TooLongError("event_chars_max", self._event_chars_max)
        else:
            self._data.append(value)

    def _invalid(self, line: bytes) -> InvalidUtf8Error | None:
        """What is wrong with the line that has not ended, from its first kept byte on."""
        if self._errors == "replace":
            return None
        try:
            line.decode()
        except UnicodeDecodeError as error:
            at = self._line_at + len(_DATA_BYTES) * self._in_value + error.start
            return InvalidUtf8Error(line[error.start : error.end], at, error.reason)
        return None

    def _invalid_after(self, raw: bytes, line_ends: int) -> InvalidUtf8Error | None:
        """What is wrong with the last bytes taken, in the line after so many line ends."""
        start = 0
        for match in islice(_LINE_END.finditer(raw), line_ends):
            start = match.end()
        self._line_at = self._offset - len(raw) + start
        return self._invalid(raw[start:])


def _as_bytes(chunk: object) -> bytes:
    if not isinstance(chunk, bytes | bytearray | memoryview):
        kind = type(chunk).__name__
        raise TypeError(f"feed takes bytes, not {kind}: encode text as UTF-8")
    return bytes(chunk)
