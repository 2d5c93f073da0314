"""What the declared framing makes of bytes: the expectation that every decoder is held against.

Bytes become characters by the WHATWG UTF-8 decoder, written here from its table of lead bytes;
characters and lines go through the two machines of `spec.framing`. Slow and plain on purpose: one
byte after the other, so it knows with which byte an event is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from doneness.spec import framing
from doneness.spec.table import Declaration, Row, first_that_holds

Policy = Literal["strict", "replace"]


class FramingLimits(NamedTuple):
    """The limits of a decoder, under the names that its keywords have."""

    line_bytes_max: int = 2**40
    event_chars_max: int = 2**40
    id_chars_max: int = 2**40
    retry_digits_max: int = 19


NO_LIMITS: Final = FramingLimits()


class Expected(NamedTuple):
    """An event, or the text of a comment, and after how many bytes it is out."""

    after_bytes: int
    event: str
    data: str
    id: str


_TRIGGERS: Final = {
    "\ufeff": framing.BOM,
    "\n": framing.LF,
    "\r": framing.CR,
    ":": framing.COLON,
    " ": framing.SPACE,
}
_FIELDS: Final = {
    "data": framing.DATA,
    "event": framing.EVENT,
    "id": framing.ID,
    "retry": framing.RETRY,
}
_DIGITS: Final = frozenset("0123456789")


def _cells(declaration: Declaration) -> dict[tuple[str, str], tuple[Row, ...]]:
    return {
        (state.name, trigger): declaration.rows_for(state.name, trigger)
        for state in declaration.states
        for trigger in declaration.triggers
    }


_LINES: Final = _cells(framing.FRAMING_LINES)
_ENTRIES: Final = _cells(framing.FRAMING_FIELDS)


@dataclass
class FramingOracle:
    """Takes bytes one by one, and says what they frame.

    Attributes:
        events: What was handed out so far.
        comments: The comments, likewise, in `data`.
        error: What the stream's error must name: a place in bytes, or a limit.
        error_after_bytes: After how many bytes the stream went wrong.
        ended_badly: Whether it went wrong only with its end.
        pairs: Each decided (machine, state, trigger), with how often.
        rows: Each row that fired, by machine and place.
    """

    errors: Policy = "strict"
    limits: FramingLimits = NO_LIMITS
    events: list[Expected] = field(default_factory=list)
    comments: list[Expected] = field(default_factory=list)
    error: str | None = None
    error_after_bytes: int | None = None
    ended_badly: bool = False
    retry_ms: int | None = None
    last_event_id: str = ""
    pairs: dict[tuple[str, str, str], int] = field(default_factory=dict)
    rows: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._bytes = 0
        self._head = b""  # the first bytes of the stream, up to three
        self._pending = b""  # the first bytes of a character
        self._line = framing.FRAMING_LINES.initial
        self._line_bytes = 0
        self._wrong_at: int | None = None  # the first bytes of the line that are no character
        self._name = self._value = self._comment = ""
        self._entry = framing.FRAMING_FIELDS.initial
        self._data: list[str] = []
        self._type = ""
        self._id = self.last_event_id

    def feed(self, chunk: bytes) -> None:
        """Take bytes, one after the other."""
        for byte in chunk:
            self._bytes += 1
            self._count(byte)
            self._decode(byte)

    def fork(self) -> FramingOracle:
        """An independent copy; what was exercised is counted together."""
        twin = copy(self)
        twin.events, twin.comments = self.events.copy(), self.comments.copy()
        twin._data = self._data.copy()  # noqa: SLF001 # of its own class
        return twin

    def finish(self) -> None:
        """Take the end of the stream; an incomplete character is none."""
        if self._pending:
            self._no_character(self._bytes)
        had_failed = self.failed
        self._line_takes("", framing.EOF)
        self.ended_badly = self.failed and not had_failed

    @property
    def failed(self) -> bool:
        """Whether the stream went wrong."""
        return self.error is not None

    def state(self) -> tuple[object, ...]:
        """All that decides what comes next, but for numbers of bytes."""
        return (
            self._line,
            self._entry,
            self._pending,
            self._wrong_at is not None,
            self._name,
            self._value,
            self._comment,
            tuple(self._data),
            self._type,
            self._id,
            self.last_event_id,
            self.retry_ms,
        )

    # Bytes to characters: the WHATWG UTF-8 decoder.

    def _count(self, byte: int) -> None:
        """Count the bytes of the line; a byte order mark at the start is in none."""
        if len(self._head) < len(_BOM):
            held = self._head
            self._head += bytes([byte])
            if _BOM.startswith(self._head):
                return
            if _BOM.startswith(held):
                self._line_bytes = len(held)  # it was not one after all
        ends_line = byte in b"\r\n"
        self._line_bytes += not ends_line
        if self._line_bytes > self.limits.line_bytes_max:
            self._line_takes("", framing.EXCESS)
        if ends_line:
            self._line_bytes = 0

    def _decode(self, byte: int) -> None:
        if self._pending and not self._continues(byte):
            self._no_character(self._bytes - 1)
        self._pending += bytes([byte])
        length = _length(self._pending[0])
        if length == 0:
            self._no_character(self._bytes)
        elif length == len(self._pending):
            text, self._pending = self._pending.decode(), b""
            self._line_takes(text, _TRIGGERS.get(text, framing.CHARACTER))

    def _continues(self, byte: int) -> bool:
        lowest, highest = 0x80, 0xBF
        if len(self._pending) == 1:
            lowest, highest = _SECOND.get(self._pending[0], (lowest, highest))
        return lowest <= byte <= highest

    def _no_character(self, end: int) -> None:
        """The pending bytes, which end after so many bytes of the stream, are no character."""
        if self._wrong_at is None:
            self._wrong_at = end - len(self._pending)
        self._pending = b""
        self._line_takes(_REPLACEMENT, framing.INVALID)

    # Characters to lines.

    def _line_takes(self, text: str, trigger: str) -> None:
        facts = {"not_utf8": self.errors == "strict" and self._wrong_at is not None}
        row = self._decided("framing_lines", _LINES, self._line, trigger, facts.__getitem__)
        self._line = row.target or self._line
        for effect in row.effects:
            if effect == "grow_name":
                self._name += text
            elif effect == "grow_value":
                self._value += text
            elif effect == "grow_comment":
                self._comment += text
            elif effect == "refuse":
                self._refused(
                    "line_bytes_max" if trigger == framing.EXCESS else f"byte {self._wrong_at} "
                )
            elif effect == "blank":
                self._entry_takes(framing.BLANK)
            elif effect == "comment":
                self._entry_takes(framing.A_COMMENT)
            elif effect == "field":
                self._entry_takes(_FIELDS.get(self._name, framing.OTHER))
        if trigger in (framing.LF, framing.CR):
            self._wrong_at = None
            self._name = self._value = self._comment = ""

    def _refused(self, names: str) -> None:
        if self.error is None:
            self.error = names
            self.error_after_bytes = self._bytes

    # Lines to events.

    def _entry_takes(self, trigger: str) -> None:
        value = self._value
        facts = {
            "digits": value != ""
            and set(value) <= _DIGITS
            and len(value.lstrip("0")) <= self.limits.retry_digits_max,
            "nul": "\0" in value,
            "fits": len(value) <= self.limits.id_chars_max
            if trigger == framing.ID
            else len("\n".join([*self._data, value])) <= self.limits.event_chars_max,
        }
        row = self._decided("framing_fields", _ENTRIES, self._entry, trigger, facts.__getitem__)
        self._entry = row.target or self._entry
        for effect in row.effects:
            if effect == "add_data":
                self._data.append(value)
            elif effect == "set_type":
                self._type = value
            elif effect == "set_id":
                self._id = value
            elif effect == "set_retry":
                self.retry_ms = int(value)
            elif effect == "id_in_force":
                self.last_event_id = self._id
            elif effect == "dispatch":
                self._hand_out(self._type or "message", "\n".join(self._data))
            elif effect == "hand_out_comment":
                self.comments.append(Expected(self._bytes, "", self._comment, ""))
            elif effect == "reset":
                self._data, self._type = [], ""
            elif effect == "refuse":
                self._refused("id_chars_max" if trigger == framing.ID else "event_chars_max")
                self._line = framing.FAILED

    def _hand_out(self, event: str, data: str) -> None:
        self.events.append(Expected(self._bytes, event, data, self.last_event_id))

    def _decided(
        self,
        machine: str,
        cells: dict[tuple[str, str], tuple[Row, ...]],
        state: str,
        trigger: str,
        holds: Callable[[str], bool],
    ) -> Row:
        row = first_that_holds(cells[state, trigger], holds)
        pair = (machine, state, trigger)
        self.pairs[pair] = self.pairs.get(pair, 0) + 1
        self.rows.add((machine, _PLACES[id(row)]))
        return row


_BOM: Final = b"\xef\xbb\xbf"
_REPLACEMENT: Final = "\ufffd"
_SECOND: Final = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
"""Where the second byte of a character may not be just any from 80 to BF."""
_PLACES: Final = {
    id(row): place
    for declaration in (framing.FRAMING_LINES, framing.FRAMING_FIELDS)
    for place, row in enumerate(declaration.rows)
}


def _length(lead: int) -> int:
    """How many bytes the character has that begins so; 0 if none does."""
    lengths = ((0x80, 1), (0xC2, 0), (0xE0, 2), (0xF0, 3), (0xF5, 4))
    return next((length for below, length in lengths if lead < below), 0)


def framed(
    wire: bytes, errors: Policy = "strict", limits: FramingLimits = NO_LIMITS
) -> FramingOracle:
    """The oracle after a whole stream and its end."""
    oracle = FramingOracle(errors, limits)
    oracle.feed(wire)
    oracle.finish()
    return oracle
