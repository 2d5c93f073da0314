"""How much a run may be: limits that end in a clear issue, never in silent loss (contract §7).

An envelope over a limit is not handed on. In its place the reducer gets one of a kind that no
contract knows, `transport.limit_exceeded`, which names the limit: it is an `unknown_event`, so the
run can never be shown as done. The caller gets the same facts as an error.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from doneness.machine.content import own_text
from doneness.machine.producer import Envelope
from doneness.machine.transport.placing import Placed
from doneness.spec.vocabulary import Kind

KIND: Final = "transport.limit_exceeded"
"""Deliberately no kind of the vocabulary: it blocks success."""

_IDS_IN_DATA: Final = ("call_id", "response_id")


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one run may be; each value is the largest that is still taken.

    Attributes:
        line_bytes_max: One line as it arrives, without its end. Longer ones are not even parsed.
        event_bytes_max: One envelope, as compact JSON.
        log_bytes_max: All envelopes of the run, repeats included, as lines of compact JSON.
        calls_max: Different calls that are requested.
        id_bytes_max: An envelope's, call's or response's id, in UTF-8.
    """

    line_bytes_max: int = 16 * 2**20  # a long answer's final text, with room to spare
    event_bytes_max: int = 16 * 2**20  # the same: an event is mostly a line
    log_bytes_max: int = 2**30  # a million events of a kilobyte
    calls_max: int = 10_000  # a hundred rounds of a hundred calls
    id_bytes_max: int = 1024  # ids in use have up to about a hundred

    def __post_init__(self) -> None:
        """Reject what is no limit.

        Raises:
            ValueError: a limit is no integer, or below 1.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{field.name}: expected an integer of at least 1, got {value!r}")


class LimitExceededError(ValueError):
    """Something is larger than its limit; the run cannot be shown as done any more.

    Attributes:
        limit: The name of the limit, a field of `Limits`.
        maximum: Its value, in the unit that the name ends with.
        value: What it was instead.
        place: Where: a line or the seq of an envelope.
    """

    def __init__(self, limit: str, maximum: int, value: int, place: str) -> None:
        super().__init__(limit, maximum, value, place)
        self.limit = limit
        self.maximum = maximum
        self.value = value
        self.place = place

    def __str__(self) -> str:
        return (
            f"{self.place}: {self.value} is more than {self.limit}={self.maximum}; "
            "raise the limit if such runs are expected"
        )

    def envelope(self, run: str, seq: int) -> Envelope:
        """What the reducer gets in place of the one that was refused."""
        data: dict[str, object] = {
            "limit": self.limit,
            "maximum": self.maximum,
            "value": self.value,
            "place": self.place,
        }
        return {"run": run, "id": f"{run}:{seq}:limit", "seq": seq, "kind": KIND, "data": data}


class Gate:
    """Judges the envelopes of one run by its limits.

    Args:
        limits: What holds.
    """

    __slots__ = ("_calls", "_limits", "_log_bytes")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._calls: set[str] = set()
        self._log_bytes = 0

    def judge_line(self, line: bytes, number: int) -> None:
        """Judge a line before it is parsed.

        Raises:
            LimitExceededError: it is too long.
        """
        self._check("line_bytes_max", len(line), f"line {number}")

    def judge(self, envelope: Placed, size_bytes: int) -> None:
        """Judge an envelope, whose compact JSON has `size_bytes`, and count it.

        Raises:
            LimitExceededError: it is too large, or one too many.
        """
        place = f"envelope with seq {envelope.seq}"
        self._check("event_bytes_max", size_bytes, place)
        named = (own_text(envelope.data.get(name)) for name in _IDS_IN_DATA)
        for text in (envelope.id, *named):
            if text is not None:
                self._check("id_bytes_max", len(text.encode()), place)
        self._log_bytes += size_bytes + 1
        self._check("log_bytes_max", self._log_bytes, place)
        call_id = own_text(envelope.data.get("call_id"))
        if envelope.kind == Kind.TOOL_REQUESTED and call_id is not None:
            self._calls.add(call_id)
            self._check("calls_max", len(self._calls), place)

    def _check(self, limit: str, value: int, place: str) -> None:
        maximum = getattr(self._limits, limit)
        if value > maximum:
            raise LimitExceededError(limit, maximum, value, place)
