"""What the adapters of wire formats share: classification as data, and no guess.

A format is a table: each event type that it has, how it is treated, and the shape that its event
must have. Three treatments, and no fourth:

- *mapped*: it becomes envelopes;
- *observed*: it says nothing about the three layers of fact, and becomes none;
- *blocking*: it is known, and nothing can be concluded past it.

Whatever is not in the table, is not JSON, lacks a field or contradicts what was said before
becomes an envelope of a kind that the contract does not have. The reducer records that as an
issue, so the run can no longer be shown as done; nothing raises, and nothing is lost in silence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from enum import StrEnum, unique
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from doneness.machine.json_text import parse
from doneness.machine.producer import Envelope, Producer

SHOWN_CHARACTERS_MAX: Final = 200
"""How much of a foreign name or reason an envelope repeats."""


@unique
class Treatment(StrEnum):
    """What an adapter makes of an event type."""

    MAPPED = "mapped"
    OBSERVED = "observation only"
    BLOCKING = "blocking"


@unique
class Blocking(StrEnum):
    """The kinds that block success: none of the contract, so the reducer records an issue."""

    UNSUPPORTED = "adapter.unsupported_event"  # not classified, or classified as blocking
    MALFORMED = "adapter.malformed_event"  # not JSON, or not the shape of its type
    CONTRADICTION = "adapter.contradiction"  # it contradicts what the stream said before


class Row(NamedTuple):
    """One row of a format's table.

    Attributes:
        treatment: What is made of the event type.
        shape: What an event of this type must hold; fields beyond it are no matter.
        meaning: What it becomes, or why it becomes nothing; for the page of the format.
    """

    treatment: Treatment
    shape: type[Any]
    meaning: str


class Anything(msgspec.Struct):
    """No field is read."""


class BeginsRun(NamedTuple):
    """Where a stream begins another run of the task.

    Attributes:
        run: The id of the new run.
        how: `resume` after a pause, `retry` after a bad end, `follow` after a success.
    """

    run: str
    how: str


class Contradiction(Exception):  # noqa: N818 # a verdict on the stream, not a fault of ours
    """The event contradicts what the stream said before; the message says how."""


class Unsupported(Exception):  # noqa: N818 # likewise
    """The event has no place in the table; the message says what it is."""


class WireAdapter(ABC):
    """From the events of one stream to the envelopes of its run.

    Args:
        run: The id of the run, bound by the trusted host. Where the format carries several runs
            in one stream, the second is `run/2`, and so on.
    """

    format: ClassVar[str]
    """The name of the format, as `doneness replay --from` takes it."""
    table: ClassVar[Mapping[str, Row]]
    """Each event type of the format."""
    framing_names_type: ClassVar[bool] = False
    """Whether the event type of the framing is that of the event, and so must agree with it."""
    owner_note: ClassVar[str]
    """Whose statement the end of a stream of this format is."""

    def __init__(self, run: str) -> None:
        self._first_run = run
        self._producer = Producer(run)
        self._runs = [BeginsRun(run, "start")]

    @property
    def producer(self) -> Producer:
        """Of the current run; the owner's conclusion is emitted through it."""
        return self._producer

    @property
    def runs(self) -> tuple[BeginsRun, ...]:
        """The runs of this stream so far, and how each began."""
        return tuple(self._runs)

    def feed(self, data: str | bytes, event: str = "message") -> list[Envelope]:
        """The envelopes of one event, in order; none for an observation. Never raises.

        Args:
            data: What the stream carried, one JSON value in UTF-8.
            event: The event type of the framing, where it has one.
        """
        try:
            value = parse(data.encode() if isinstance(data, str) else data)
        except Exception:  # noqa: BLE001 # not JSON, not UTF-8, not text: all the same here
            return self._blocked(Blocking.MALFORMED, event, "not one JSON value")
        return self.feed_value(value, event)

    def feed_value(self, value: object, event: str = "message") -> list[Envelope]:
        """The same for an event whose JSON was read already."""
        type_ = event
        envelopes: list[Envelope] = []
        try:
            type_ = self._type_of(value, event)
            shaped = msgspec.convert(value, self._shape_of(type_))
            for envelope in self._take(type_, shaped):
                envelopes.append(envelope)  # noqa: PERF402 # keeps those before an exception
        except Unsupported as verdict:
            envelopes += self._blocked(Blocking.UNSUPPORTED, type_, str(verdict))
        except Contradiction as verdict:
            envelopes += self._blocked(Blocking.CONTRADICTION, type_, str(verdict))
        except Exception as error:  # noqa: BLE001 # whatever a stream holds, nothing raises
            envelopes += self._blocked(Blocking.MALFORMED, type_, str(error))
        return envelopes

    def unreadable(self, reason: str) -> list[Envelope]:
        """The framing broke here, e.g. by invalid UTF-8: what came is not what was sent."""
        return self._blocked(Blocking.MALFORMED, "framing", reason)

    def name_of(self, value: object, event: str = "message") -> str:
        """The event type of a value, to show it; what has none is named as its framing does."""
        try:
            return self._type_of(value, event)
        except Exception:  # noqa: BLE001 # see feed
            return event

    def _type_of(self, value: object, event: str) -> str:
        """The event type, a key of the table or not; here the member `type`."""
        if not isinstance(value, dict):
            raise TypeError(f"expected a JSON object, got {type(value).__name__}")
        framed = event if self.framing_names_type and event != "message" else None
        type_ = value.get("type", framed)
        if type_ is None and "type" not in value:
            raise TypeError("an event without a type")
        if not isinstance(type_, str):
            raise TypeError(f"type: expected a str, got {type(type_).__name__}")
        if self.framing_names_type and event not in ("message", type_):
            raise Contradiction(f"framed as {event}")
        return type_

    def _shape_of(self, type_: str) -> type[Any]:
        row = self.table.get(type_)
        if row is None:
            raise Unsupported("an event type that nobody classified")
        if row.treatment is Treatment.BLOCKING:
            raise Unsupported(row.meaning)
        return row.shape

    @abstractmethod
    def _take(self, type_: str, event: Any) -> Iterator[Envelope]:
        """What one event becomes; `event` is of the shape that its row declares."""

    def _begin_run(self, how: str) -> None:
        """From here on, the stream speaks about another run."""
        begins = BeginsRun(f"{self._first_run}/{len(self._runs) + 1}", how)
        self._runs.append(begins)
        self._producer = Producer(begins.run)

    def _blocked(self, kind: Blocking, type_: str, reason: str) -> list[Envelope]:
        shown = {"format": self.format, "type": _shown(type_), "reason": _shown(reason)}
        return [self._producer.emit(kind, **shown)]


def _shown(text: str) -> str:
    """A part of a foreign text that can be written as UTF-8."""
    return text[:SHOWN_CHARACTERS_MAX].encode(errors="replace").decode()
