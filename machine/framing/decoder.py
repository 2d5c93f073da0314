"""Bytes in, events out: the framing of a stream of server-sent events (contract §5, WHATWG §9.2.6).

The idea: a chunk that ends no line is added to what is kept of the line, and that is all that
happens to it: two bytes are looked for, and one length is compared. Lines are found in bytes, where
CR and LF can be nothing else, and decoded once, when they have ended; so a character cut in two
needs no care, and a line of many megabytes costs as much per byte as a short one. What is kept is
`bytes` while it is short, and most lines are; then a `bytearray`, which grows in place; and pieces
too large to be worth a copy are put aside as they came. Between two events most streams repeat one
shape, `data: …` and a blank line: a region of that shape is split in one step, after one look has
proven that it holds nothing else. Everything else goes line by line.

The chunks are invisible: any partition of the same bytes gives the same events, the same state and
the same error. An event is handed out with the byte that ends its blank line, CR included: the LF
that may follow is dropped when it comes. Bytes that are not UTF-8 are noticed when their line ends,
or the stream. An error does not take earlier events with it: they are returned, and the next call
raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
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
_BLANK: Final = b"\n\n"
_BLANK_CRLF: Final = b"\r\n\r\n"
_NEXT: Final = _BLANK + _DATA_BYTES
_NEXT_CRLF: Final = _BLANK_CRLF + _DATA_BYTES

_SHORT_BYTES: Final = 512
"""So long `bytes` are cheaper to make anew than a `bytearray` is to grow."""
_LARGE_BYTES: Final = 2048
"""From here on copying costs more than joining once."""
_LOOK: Final = -1
"""No room at all: whatever comes is looked at."""

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
        "_aside",
        "_aside_bytes",
        "_begun",
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
        "_line",
        "_line_at",
        "_line_bytes_max",
        "_name_room",
        "_retry_digits_max",
        "_room",
        "_short_room",
        "_simple",
        "_type",
        "_value_bytes_max",
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
        self._value_bytes_max = min(line_bytes_max - len(_DATA_BYTES), event_chars_max)
        self._name_room = min(len(_DATA_BYTES) - 1, line_bytes_max)
        self._short_room = min(_SHORT_BYTES, line_bytes_max - len(_DATA_BYTES))
        self.reset()

    def reset(self) -> None:
        """Start a new stream; nothing of the old one is left."""
        self._failure: FramingError | None = None
        self._begun = False  # it is known that no BOM is to come
        self._after_cr = False  # an LF that comes next belongs to a line end that was taken
        self._line: bytes | bytearray = b""  # the line that has not ended
        self._aside: list[bytes | bytearray] = []  # its large pieces, which come before
        self._aside_bytes = 0
        self._line_at = 0  # its offset in the stream
        self._room = _LOOK  # it may have so many bytes before it is looked at
        self._in_value = False  # it is a data line, its name taken off
        self._simple = False  # and nothing else was said since the last blank line
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
        try:
            if 10 not in chunk and 13 not in chunk:
                self._line += chunk
                if len(self._line) <= self._room:
                    return []
                return self._look(chunk)
        except (NotImplementedError, TypeError):
            if type(chunk) is bytes:
                raise
        return self._values(chunk) or self._feed(chunk)

    def stream(self, chunks: Iterable[bytes]) -> Iterator[_ItemT]:
        """The events of a whole stream, each as soon as it is complete: `feed`, then `finish`.

        Small chunks are kept without a call for each.

        Raises:
            FramingError: the stream is wrong, after the events before that.
        """
        for chunk in chunks:
            if type(chunk) is not bytes:
                events = self.feed(chunk)
            elif 10 in chunk or 13 in chunk:
                events = self._values(chunk) or self._feed(chunk)
            else:
                self._line += chunk
                if len(self._line) <= self._room:
                    continue
                events = self._look(chunk)
            yield from events
        self.finish()

    def finish(self) -> list[_ItemT]:
        """The stream has ended. What no blank line has completed is no event: always empty.

        Raises:
            InvalidUtf8Error: the line that it ended in is not UTF-8, under `strict`.
            FramingError: an error that was not raised yet.
        """
        if isinstance(self._failure, StreamEndedError):
            return []
        if self._failure is None:
            _refuse_line_ends(self._line)
            self._failure = self._invalid(self._joined(), self._line_at)
        self._room = _LOOK
        self._simple = False
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        self._failure = StreamEndedError()
        return []

    @property
    def unfinished(self) -> Unfinished | None:
        """What arrived after the last blank line; None if nothing did that could matter."""
        line = _DATA_BYTES * self._in_value + self._joined()
        found = Unfinished(line, tuple(self._data), self._type, self._id)
        return None if found == Unfinished(b"", (), "", self.last_event_id) else found

    def snapshot(self) -> tuple[object, ...]:
        """All that decides what comes next: equal for decoders that no bytes can tell apart."""
        if self._failure is not None:
            return self.last_event_id, self.retry_ms, type(self._failure), str(self._failure)
        return (
            self.unfinished,
            self.last_event_id,
            self.retry_ms,
            self._after_cr,
            self._line_at,
        )

    def _look(self, chunk: bytes) -> list[_ItemT]:
        """Look at the line, which has grown by a chunk that seems to end no line."""
        if self._room == _LOOK or type(chunk) is not bytes:
            self._line = self._line[: len(self._line) - memoryview(chunk).nbytes]
            return self._feed(chunk)
        self._grown()
        if self._failure is not None:
            raise self._failure
        return []

    def _grown(self) -> None:
        """Look at a line that has outgrown its room: at its name, its length, how it is kept."""
        if not self._in_value and self._line.startswith(_DATA_BYTES) and not self._aside:
            self._line = self._line[len(_DATA_BYTES) :]
            self._in_value = True
            self._simple = self._between_events()
        line = self._line
        if len(line) <= self._short_room and not self._aside:
            self._room = self._short_room
            return
        left = self._line_bytes_max - self._kept_bytes()
        if left < 0:
            self._fail(TooLongError("line_bytes_max", self._line_bytes_max))
        elif len(line) < _LARGE_BYTES:
            self._line = bytearray(line)
            self._room = len(line) + left
        else:
            _refuse_line_ends(line)
            self._aside.append(line)
            self._aside_bytes += len(line)
            self._line = b""
            self._simple = False
            self._room = min(self._short_room, left)

    def _kept_bytes(self) -> int:
        """The length of the line so far."""
        return len(_DATA_BYTES) * self._in_value + self._aside_bytes + len(self._line)

    def _joined(self) -> bytes | bytearray:
        """What is kept of the line."""
        return b"".join([*self._aside, self._line]) if self._aside else self._line

    def _values(self, chunk: bytes) -> list[_ItemT] | None:
        """The events that a chunk completes, if each is one data line; else nothing, unchanged.

        A shortcut for the common case, a chunk from within one value to within another. Cut
        wherever a blank line and a value's name meet, its pieces are values if no line end is
        left in them.
        """
        if not self._simple or type(chunk) is not bytes:
            return None
        crlf = 13 in chunk
        cut = _NEXT_CRLF if crlf else _NEXT
        head, named, rest = chunk.partition(cut)
        more: list[bytes] = []
        if not named:
            head, blank, rest = chunk.partition(_BLANK_CRLF if crlf else _BLANK)
            if not blank or 10 in rest or 13 in rest:
                return None
        elif 10 in rest or 13 in rest:
            more = rest.split(cut)
            joined = b"".join(more)
            if 10 in joined or 13 in joined:
                return None
            rest = more.pop()
        line = self._line
        kept = len(line)
        size = kept + len(chunk)
        line += head
        try:
            if 10 in line or 13 in line or size > self._value_bytes_max:
                self._line = line[:kept]
                return None
            events: list[_ItemT] = [Event(line.decode(), "message", self._id)]
            if more:
                events += map(Event, map(bytes.decode, more), repeat("message"), repeat(self._id))
        except UnicodeDecodeError:
            self._line = line[:kept]
            return None
        if named:
            self._line_at += size - len(rest)
            self._line = rest
            self._room = self._short_room
        else:
            self._begin(rest, self._line_at + len(_DATA_BYTES) + size - len(rest))
        return events

    def _feed(self, chunk: bytes) -> list[_ItemT]:
        """Feed a chunk that is not simply kept."""
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if type(chunk) is not bytes:
            chunk = _as_bytes(chunk)
        if not self._begun:
            chunk = bytes(self._line) + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._line = chunk
                return []
            self._begun = True
            if chunk.startswith(_BOM):
                chunk = chunk[len(_BOM) :]
                self._line_at = len(_BOM)
            self._begin(b"", self._line_at)
        elif self._after_cr and chunk:
            self._after_cr = False
            lf = chunk[0] == 10
            chunk = chunk[lf:]
            self._begin(b"", self._line_at + lf)
        events: list[_ItemT] = []
        if 10 in chunk or 13 in chunk:
            self._lines(chunk, events)
        elif chunk:
            self._line += chunk
            if len(self._line) > self._room:
                self._grown()
        if self._failure is not None and not events:
            raise self._failure
        return events

    def _fail(self, failure: FramingError) -> None:
        """Go wrong, for good; what was kept of the line is of no use."""
        self._failure = failure
        self._begin(b"", self._line_at)
        self._room = _LOOK

    def _begin(self, piece: bytes, at: int) -> None:
        """Begin a line at that offset, with its first bytes; there may be none."""
        self._line_at = at
        self._line = piece
        if self._aside:
            self._aside = []
            self._aside_bytes = 0
        self._in_value = self._simple = False
        self._room = _LOOK if self._after_cr else self._name_room
        if piece and len(piece) > self._room:
            self._grown()

    def _lines(self, chunk: bytes, events: list[_ItemT]) -> None:
        """Take a chunk with at least one line end."""
        _refuse_line_ends(self._line)
        raw = chunk
        kept = self._kept_bytes()
        at = self._line_at + kept
        if 13 in chunk:
            self._after_cr = chunk[-1] == 13
            chunk = chunk.replace(b"\r\n", b"\n")
            if 13 in chunk:
                chunk = chunk.replace(b"\r", b"\n")
        rest, start = chunk, 0
        if kept:
            start = chunk.index(10)
            self._end_line(chunk[:start], kept, events)
            if self._failure is not None:
                return
            rest = chunk[start + 1 :]
            if rest and rest[0] == 10:
                self._blank_line(events)
                rest = rest[1:]
        if 10 in rest:
            end = rest.rfind(b"\n") + 1
            self._whole_lines(rest[:end], raw, at, start, events)
            if self._failure is not None:
                return
            rest = rest[end:]
        self._begin(rest, at + len(raw) - len(rest))

    def _end_line(self, piece: bytes, kept: int, events: list[_ItemT]) -> None:
        """Take the last piece of the line of which so many bytes were kept."""
        if kept + len(piece) > self._line_bytes_max:
            self._fail(TooLongError("line_bytes_max", self._line_bytes_max))
            return
        self._line += piece
        line = self._joined()
        try:
            text = line.decode(errors=self._errors)
        except UnicodeDecodeError:
            failure = self._invalid(line + b"\n", self._line_at)
            assert failure is not None
            self._fail(failure)
            return
        if self._in_value:
            self._in_value = False
            self._value(text)
        else:
            self._take(text, events)

    def _whole_lines(
        self, lines: bytes, raw: bytes, at: int, start: int, events: list[_ItemT]
    ) -> None:
        """Take lines that begin and end in one chunk: `raw`, after what ends at `start`."""
        failure: FramingError | None = None
        if len(lines) > self._line_bytes_max:
            lines, failure = self._before_a_long_line(lines)
        try:
            text = lines.decode(errors=self._errors)
        except UnicodeDecodeError as error:
            text = lines[: lines.rfind(b"\n", 0, error.start) + 1].decode()
            failure = self._invalid(raw[start:], at + start)
        if text.startswith(_DATA) and self._between_events():
            text = self._region(text, events)
        for line in text.split("\n")[:-1]:
            if line:
                self._take(line, events)
            else:
                self._blank_line(events)
            if self._failure is not None:
                return
        if failure is not None:
            self._fail(failure)

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

    def _take(self, line: str, events: list[_ItemT]) -> None:
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
                self._fail(TooLongError("id_chars_max", self._id_chars_max))
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
            self._fail(TooLongError("event_chars_max", self._event_chars_max))
        else:
            self._data.append(value)

    def _invalid(self, line: bytes | bytearray, at: int) -> InvalidUtf8Error | None:
        """What is wrong with the line at that offset, kept so far or just ended."""
        if self._errors == "replace":
            return None
        try:
            line.decode()
        except UnicodeDecodeError as error:
            place = at + len(_DATA_BYTES) * self._in_value + error.start
            return InvalidUtf8Error(bytes(line[error.start : error.end]), place, error.reason)
        return None


def _as_bytes(chunk: object) -> bytes:
    try:
        return bytes(memoryview(chunk))  # type: ignore[arg-type] # is asked here
    except TypeError:
        kind = type(chunk).__name__
        raise TypeError(f"feed takes bytes, not {kind}: encode text as UTF-8") from None


def _refuse_line_ends(kept: bytes | bytearray) -> None:
    """None can be in what was kept of a line, if the elements of each chunk were its bytes."""
    if 10 in kept or 13 in kept:
        raise TypeError(
            "feed takes bytes: a chunk held elements of another kind, and line ends among them; "
            "pass bytes(chunk)"
        )
