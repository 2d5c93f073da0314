"""Decoders under test: chunks in, the events that each chunk completed out.

A decoder of somebody else's is a Python factory or a program that gets its chunks in base64.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from doneness.generators.subjects import protocol
from doneness.generators.subjects.conversation import Conversation
from doneness.generators.subjects.program import (
    CannotStartError,
    Limits,
    MisbehavedError,
    Patience,
    Verdict,
)
from doneness.generators.subjects.python_object import UnfitObjectError
from doneness.generators.subjects.watch import finishes

Policy: TypeAlias = Literal["strict", "replace"]
Chunks: TypeAlias = Sequence[bytes]

NOT_SHOWN: Final = "not shown"
"""Stands for what a decoder does not let anybody read."""

_BATCH: Final = 256


class FramedEvent(NamedTuple):
    """One event as a decoder handed it out."""

    event: str
    data: str
    id: str


class Framed(NamedTuple):
    """What a decoder made of one stream.

    Attributes:
        events: For each chunk the events that it completed, and last those at the end of the
            stream; shorter where an error ended it.
        retry_ms: None if there is none, or `NOT_SHOWN`.
        last_event_id: Or `NOT_SHOWN`.
        error: What it said of the stream, if that is wrong.
        failure: How it failed to answer at all; all else says nothing then.
    """

    events: tuple[tuple[FramedEvent, ...], ...] = ()
    retry_ms: object = NOT_SHOWN
    last_event_id: object = NOT_SHOWN
    error: str | None = None
    failure: str | None = None

    @property
    def all_events(self) -> tuple[FramedEvent, ...]:
        """The events in order, whatever the chunks."""
        return tuple(event for some in self.events for event in some)


class FramingSubject(Protocol):
    """A decoder under test.

    Attributes:
        policies: What it can do with invalid UTF-8.
    """

    name: str
    policies: tuple[Policy, ...]

    def frame(self, streams: Sequence[Chunks], errors: Policy = "strict") -> list[Framed]:
        """What it makes of each stream, fed chunk by chunk to a new decoder."""

    def close(self) -> None:
        """Let go of what it holds."""


class PythonDecoder:
    """A decoder in this process.

    Args:
        factory: Makes a decoder: `feed(bytes)` returns the events that are complete, and
            `finish()` (or `close()`) ends the stream. If it takes `errors`, it is told the policy.
            An event has `event`, `data` and `id`, as attributes or as keys.

    Raises:
        UnfitObjectError: it does not.
    """

    def __init__(
        self, name: str, factory: Callable[..., Any], *, answer_seconds: float = 4.0
    ) -> None:
        self.name = name
        self._answer_seconds = answer_seconds
        self._patience = Patience()
        self._steps = 0
        self._factory = factory
        self._is_told = _takes_errors(factory)
        self.policies: tuple[Policy, ...] = ("strict", "replace") if self._is_told else ("strict",)
        try:
            decoder = self._made("strict")
        except Exception as error:  # noqa: BLE001 # whatever it raises is what is wrong
            raise UnfitObjectError(
                f"{name} raised {type(error).__name__}: {error}; expected it to make a decoder"
            ) from None
        if not (hasattr(decoder, "feed") and _end_of(decoder)):
            raise UnfitObjectError(
                f"{name} returned {type(decoder).__name__}; "
                "expected an object with feed and finish (or close)"
            )

    def frame(self, streams: Sequence[Chunks], errors: Policy = "strict") -> list[Framed]:
        """What it makes of each stream, fed chunk by chunk to a new decoder."""
        framed: list[Framed] = []

        def work() -> None:
            for chunks in streams:
                framed.append(self._frame(chunks, errors))  # noqa: PERF401 # read while it grows

        if self._patience.is_lost:
            return [Framed(failure="not run: the decoder hung too often")] * len(streams)
        ended, error = finishes(work, self._answer_seconds, lambda: self._steps)
        if not ended:
            self._patience.lose(Verdict.HANGS)
            seconds, self._answer_seconds = self._answer_seconds, min(self._answer_seconds, 0.5)
            framed.append(Framed(failure=f"{Verdict.HANGS}: no answer within {seconds:.1f} s"))
        elif error is not None:
            framed.append(Framed(failure=f"raised {type(error).__name__}: {error}"))
        missing = len(streams) - len(framed)
        return framed + [Framed(failure="not run: it failed earlier")] * missing

    def close(self) -> None:
        """Do nothing."""

    def _made(self, errors: Policy) -> Any:
        return self._factory(errors=errors) if self._is_told else self._factory()

    def _frame(self, chunks: Chunks, errors: Policy) -> Framed:
        decoder = self._made(errors)
        steps = [*((decoder.feed, (chunk,)) for chunk in chunks), (_end_of(decoder), ())]
        events: list[tuple[FramedEvent, ...]] = []
        error = None
        for step, arguments in steps:
            self._steps += 1
            try:
                events.append(tuple(map(_event, step(*arguments) or ())))
            except _StrangeEventError as strange:
                return Framed(failure=str(strange))
            except Exception as raised:  # noqa: BLE001 # whatever it raises is what it says
                error = f"{type(raised).__name__}: {raised}"
                break
        return Framed(
            tuple(events),
            getattr(decoder, "retry_ms", NOT_SHOWN),
            getattr(decoder, "last_event_id", NOT_SHOWN),
            error,
        )


class FramingProgram:
    """A program that speaks the protocol and can frame.

    Raises:
        CannotStartError: there is no such command, or it says that it cannot frame.
    """

    policies: tuple[Policy, ...] = ("strict", "replace")

    def __init__(self, command: Sequence[str], limits: Limits | None = None) -> None:
        self._talk = Conversation(command, limits)
        self.name = self._talk.name
        if self._talk.capabilities and protocol.FRAMING not in self._talk:
            self.close()
            raise CannotStartError(f"{self.name} does not state the capability {protocol.FRAMING}")

    def close(self) -> None:
        """End the program."""
        self._talk.close()

    def frame(self, streams: Sequence[Chunks], errors: Policy = "strict") -> list[Framed]:
        """What it makes of each stream, fed chunk by chunk to a new decoder."""
        framed: list[Framed] = []
        if self._talk.is_given_up:
            gone = "not run: the program misbehaved too often, and was given up"
            return [Framed(failure=gone)] * len(streams)
        for start in range(0, len(streams), _BATCH):
            batch = streams[start : start + _BATCH]
            questions = [("frame", _members(chunks, errors)) for chunks in batch]
            try:
                for chunks, (answer, line) in zip(batch, self._talk.ask(questions), strict=True):
                    framed.append(_framed(answer, line, len(chunks) + 1))
            except MisbehavedError as error:
                self._talk.blame(error)
                del framed[start + len(batch) - 1 :]  # it may be about the last, told already
                framed.append(Framed(failure=str(error)))
                missing = len(streams) - len(framed)
                return framed + [Framed(failure="not run: it misbehaved earlier")] * missing
        return framed


class _StrangeEventError(ValueError):
    pass


def _members(chunks: Chunks, errors: Policy) -> bytes:
    encoded = [b64encode(chunk).decode() for chunk in chunks]
    return b',"errors":"%b","chunks":%b' % (errors.encode(), protocol.json_of(encoded))


def _framed(answer: Mapping[str, Any], line: bytes, lists_max: int) -> Framed:
    lists = answer.get("events")
    error = answer.get("error")
    if not isinstance(lists, list) or not all(isinstance(some, list) for some in lists):
        raise protocol.garbage('"events" is no list of lists', line)
    if len(lists) > lists_max or (len(lists) < lists_max and error is None):
        raise protocol.garbage(f'"events" has {len(lists)} lists, expected {lists_max}', line)
    try:
        events = tuple(tuple(map(_event, some)) for some in lists)
    except _StrangeEventError as strange:
        raise protocol.garbage(str(strange), line) from None
    return Framed(
        events,
        answer.get("retry_ms", NOT_SHOWN),
        answer.get("last_event_id", NOT_SHOWN),
        None if error is None else str(error),
    )


def _event(value: Any) -> FramedEvent:
    members = [
        member for name in FramedEvent._fields if isinstance(member := _member(value, name), str)
    ]
    if len(members) < len(FramedEvent._fields):
        raise _StrangeEventError(f"an event without event, data and id as text: {value!r:.80}")
    return FramedEvent(*members)


def _member(value: Any, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _end_of(decoder: Any) -> Callable[[], Any] | None:
    end: Callable[[], Any] | None = getattr(decoder, "finish", None)
    return end or getattr(decoder, "close", None)


def _takes_errors(factory: Callable[..., Any]) -> bool:
    try:
        parameters = signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(one.name == "errors" or one.kind is Parameter.VAR_KEYWORD for one in parameters)
