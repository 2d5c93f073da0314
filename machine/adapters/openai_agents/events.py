"""From the SDK's stream events, and what its hooks see, to envelopes (contract §4).

A call has two witnesses that run in different tasks: the stream, which tells of a request when
the consumer gets there, and the hooks, which tell at once that the tool starts or fails. Whoever
comes first has the request emitted, so the log is legal in both orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from agents import RawResponsesStreamEvent, RunItemStreamEvent
from openai.types.responses import ResponseTextDeltaEvent

from doneness.machine.adapters.openai_agents.classification import (
    OBSERVED_ITEMS,
    OBSERVED_RAW,
    Take,
)
from doneness.machine.adapters.openai_agents.reading import read
from doneness.machine.producer import Envelope, Producer
from doneness.spec.vocabulary import Kind

UNSUPPORTED: Final = "adapter.unsupported_event"
"""No kind of the contract, so the reducer records an issue."""

Sink = Callable[[Envelope], object]
"""Called with each envelope, in order: `Progress.feed`, or the `append` of a log."""


@dataclass(slots=True)
class _Call:
    """What is known of a call whose request was emitted."""

    in_stream: bool = False  # the stream told of the request
    started: bool = False
    failed: bool = False  # `tool.failed` was emitted
    cancelled: bool = False  # its body was cancelled, by a time-out or with the run
    returned: bool = False  # the hook saw it return
    settled: bool = False  # the stream told of the output


class EventAdapter:
    """Turns the events of one streamed run into that run's envelopes.

    Args:
        producer: Bound to the run; others may emit through it as well.
        to: Gets each envelope, in order. What it raises is raised to the caller.
        resumed: The run goes on from a saved state, so that calls of the run before come back
            without a request.

    Attributes:
        broken: What `to` raised last, if it did: an envelope may be lost.
    """

    __slots__ = ("_calls", "_emit", "_handoffs", "_resumed", "_to", "broken", "feed")

    feed: Callable[[object], None]
    """Take one event of `stream_events()`; reading it never raises."""

    def __init__(self, producer: Producer, to: Sink, *, resumed: bool = False) -> None:
        self._emit = producer.emit
        self._to = to
        self._resumed = resumed
        self._calls: dict[str, _Call] = {}
        self._handoffs: set[str] = set()
        self.broken: BaseException | None = None
        self.feed = self._feeding(producer)

    def send(self, envelope: Envelope) -> None:
        """Hand on an envelope that was emitted."""
        try:
            self._to(envelope)
        except BaseException as error:
            self.broken = error
            raise

    # What the stream says.

    def _feeding(self, producer: Producer) -> Callable[[object], None]:
        """`feed`, with short ways for what nearly every event is: a piece of text, or no news.

        What it costs is measured against the SDK's own cost per event, hence a function that
        holds what it needs, exact types (whatever is of another goes the long way), and an
        envelope written out, and numbered, as `Producer.emit` does it.
        """
        run, to, long_way = producer.run, self._to, self._long_way

        def feed(event: Any) -> None:
            class_ = type(event)
            if class_ is RawResponsesStreamEvent:
                text = None
                try:
                    raw = event.data
                    if type(raw) is ResponseTextDeltaEvent:
                        text = raw.delta
                    elif type(kind := raw.type) is str and kind in OBSERVED_RAW:
                        return
                except Exception:  # noqa: BLE001, S110 # made without its fields: the long way says so
                    pass
                if type(text) is str:
                    producer._last_seq = seq = producer._last_seq + 1  # noqa: SLF001 # a call less
                    try:
                        to(
                            {
                                "run": run,
                                "id": f"{run}:{seq}",
                                "seq": seq,
                                "kind": "text.delta",
                                "data": {"text": text},
                            }
                        )
                    except BaseException as error:
                        self.broken = error
                        raise
                    return
            elif class_ is RunItemStreamEvent:
                try:
                    if type(name := event.name) is str and name in OBSERVED_ITEMS:
                        return
                except Exception:  # noqa: BLE001, S110 # as above
                    pass
            long_way(event)

        return feed

    def _long_way(self, event: object) -> None:
        take, what, why = read(event)
        match take:
            case Take.OBSERVE:
                pass
            case Take.TEXT if what is not None:
                self.send(self._emit(Kind.TEXT_DELTA, text=what))
            case Take.COMPLETED:
                # Some providers give a response no id; then there is nothing to record.
                if what is not None:
                    self.send(self._emit(Kind.MODEL_COMPLETED, response_id=what))
            case Take.UNRESOLVED:
                self.send(self._emit(Kind.MODEL_UNRESOLVED, response_id=what, reason=why))
            case Take.CALL if what is not None:
                self._requested(what)
            case Take.OUTPUT if what is not None:
                self._output(what)
            case Take.HANDOFF if what is not None:
                self._handoffs.add(what)
            case _:
                self.send(self._emit(UNSUPPORTED, type=what))

    def _requested(self, call_id: str) -> None:
        call = self._calls.get(call_id)
        if call is None:
            self._request(call_id).in_stream = True
        elif call.in_stream:  # twice: a contradiction, which must reach the reducer to be seen
            self.send(self._emit(Kind.TOOL_REQUESTED, call_id=call_id))
        else:
            call.in_stream = True

    def _output(self, call_id: str) -> None:
        if call_id in self._handoffs:
            return  # of several hand-offs in a turn one is taken, and the others get an output
        call = self._calls.get(call_id)
        if call is None and self._resumed:
            call = self._request(call_id)
        if call is None or call.settled:  # a contradiction: as above
            self.send(self._emit(Kind.TOOL_FINISHED, call_id=call_id))
            return
        call.settled = True
        if call.cancelled:  # and yet the run has an output for it: the body was timed out
            self._fail(call_id, call)
        elif not call.failed:
            self.send(self._emit(Kind.TOOL_FINISHED, call_id=call_id))

    # What the hooks see.

    def tool_started(self, call_id: str) -> None:
        """The tool is about to run; again (a nested run goes on) changes nothing."""
        call = self._calls.get(call_id) or self._request(call_id)
        if not (call.started or call.failed or call.settled):
            call.started = True
            self.send(self._emit(Kind.TOOL_STARTED, call_id=call_id))

    def tool_failed(self, call_id: str) -> None:
        """The body of the tool raised, whatever is made of that for the model."""
        call = self._calls.get(call_id)
        if call is not None and not call.settled:
            self._fail(call_id, call)

    def tool_cancelled(self, call_id: str) -> None:
        """The body of the tool was cancelled: a time-out if the run goes on without it."""
        call = self._calls.get(call_id)
        if call is not None:
            call.cancelled = True

    def tool_returned(self, call_id: str) -> None:
        """The tool returned; kept for `settle`, the stream tells of the output."""
        call = self._calls.get(call_id)
        if call is not None:
            call.returned = True

    def settle(self) -> None:
        """The stream is over: what the hooks saw return did so, with no output in the stream."""
        for call_id, call in self._calls.items():
            if call.returned and not (call.failed or call.settled):
                call.settled = True
                self.send(self._emit(Kind.TOOL_FINISHED, call_id=call_id))

    # Both.

    def _request(self, call_id: str) -> _Call:
        self.send(self._emit(Kind.TOOL_REQUESTED, call_id=call_id))
        call = self._calls[call_id] = _Call()
        return call

    def _fail(self, call_id: str, call: _Call) -> None:
        if not call.failed:
            call.failed = True
            self.send(self._emit(Kind.TOOL_FAILED, call_id=call_id))
