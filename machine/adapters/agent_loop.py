"""From the agent loop's events to envelopes (contract, end of §6).

| loop event | envelopes |
|---|---|
| `token` | `text.delta` |
| `tool_start` | `tool.requested`, `tool.started` |
| `tool_result` | `tool.finished`, or `tool.failed` with `is_error` |
| `done` | `run.ended`: succeeded, with the text of the last round |
| `error` | `run.ended`: failed, or incomplete for the round limit |
| `iteration_start`, `usage` | none: observation only |
| anything else | `adapter.unsupported_event`, which blocks success |

The loop's own end is the owner's conclusion, since the host runs the loop; it is drawn in the
order of §4, so a cancel request on record makes a late `done` a cancelled run. Fields that the
loop adds are no matter; a field that is missing or has another type makes an event unsupported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from doneness.machine.producer import Envelope, Producer
from doneness.spec.vocabulary import Kind, Outcome

UNSUPPORTED: Final = "adapter.unsupported_event"
"""No kind of the contract, so the reducer records an issue."""

# The fields that are read, and the type each must have.
_FIELDS: Final[Mapping[str, Mapping[str, type]]] = {
    "iteration_start": {"iteration": int},
    "token": {"content": str},
    "tool_start": {"call_id": str, "name": str},
    "tool_result": {"call_id": str, "name": str, "is_error": bool},
    "usage": {},
    "done": {},
    "error": {"message": str},
}


class AgentLoopAdapter:
    """Turns the events of one run of the loop into that run's envelopes.

    Args:
        producer: Bound to the run; others may emit through it as well.
    """

    __slots__ = ("_after_tool", "_cancel_requested", "_producer", "_round", "_takes")

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._round: list[str] = []  # the text of the current round
        self._after_tool = False
        self._cancel_requested = False
        self._takes: Mapping[str, Callable[[Mapping[str, object]], list[Envelope]]] = {
            "iteration_start": self._begin_round,
            "token": self._token,
            "tool_start": self._tool_start,
            "tool_result": self._tool_result,
            "usage": lambda _event: [],
            "done": self._done,
            "error": self._error,
        }

    def feed(self, event: Mapping[str, object]) -> list[Envelope]:
        """The envelopes of one event, in order; none for an observation."""
        kind = event.get("type")
        if not isinstance(kind, str) or not _has_fields(kind, event):
            shown = kind[:200] if isinstance(kind, str) else type(kind).__name__
            return [self._producer.emit(UNSUPPORTED, type=shown)]
        envelopes = self._takes[kind](event)
        self._after_tool = kind == "tool_result"
        return envelopes

    def request_cancel(self) -> list[Envelope]:
        """A person or the host wants the run to stop; it has not stopped yet."""
        self._cancel_requested = True
        return [self._producer.emit(Kind.CANCEL_REQUESTED)]

    def confirm_cancel(self) -> list[Envelope]:
        """The host has closed the loop after a cancel request: the run ended, cancelled.

        Without a request there is nothing to confirm: leaving the loop early is no end.
        """
        if not self._cancel_requested:
            return []
        return [
            self._producer.emit(Kind.RUN_ENDED, outcome=Outcome.CANCELLED.value, final_text=None)
        ]

    def _begin_round(self, _event: Mapping[str, object]) -> list[Envelope]:
        self._round.clear()
        return []

    def _token(self, event: Mapping[str, object]) -> list[Envelope]:
        content = event["content"]
        self._round.append(str(content))
        return [self._producer.emit(Kind.TEXT_DELTA, text=content)]

    def _tool_start(self, event: Mapping[str, object]) -> list[Envelope]:
        call_id = event["call_id"]
        return [
            self._producer.emit(kind, call_id=call_id)
            for kind in (Kind.TOOL_REQUESTED, Kind.TOOL_STARTED)
        ]

    def _tool_result(self, event: Mapping[str, object]) -> list[Envelope]:
        kind = Kind.TOOL_FAILED if event["is_error"] else Kind.TOOL_FINISHED
        return [self._producer.emit(kind, call_id=event["call_id"])]

    def _done(self, _event: Mapping[str, object]) -> list[Envelope]:
        return self._conclude(runtime_failed=False)

    def _error(self, event: Mapping[str, object]) -> list[Envelope]:
        # Without a reason, the place tells: after a tool result the loop goes on to its next
        # model call, and only the round limit keeps it from that.
        limit = event.get("reason") == "round_limit" if "reason" in event else self._after_tool
        if limit:
            outcome = Outcome.INCOMPLETE.value
            return [self._producer.emit(Kind.RUN_ENDED, outcome=outcome, final_text=None)]
        return self._conclude(runtime_failed=True)

    def _conclude(self, *, runtime_failed: bool) -> list[Envelope]:
        end = self._producer.owner_finished(
            exhausted=True,
            is_complete=True,
            interruptions=(),
            cancel_requested=self._cancel_requested,
            runtime_failed=runtime_failed,
            final_text="".join(self._round),
        )
        return [] if end is None else [end]


def _has_fields(kind: str, event: Mapping[str, object]) -> bool:
    fields = _FIELDS.get(kind)
    # `type(...) is`: a boolean is not an integer, and a subclass is not what a log holds.
    return fields is not None and all(
        type(event.get(name)) is expected for name, expected in fields.items()
    )
