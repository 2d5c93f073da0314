"""From the stream of the OpenAI Responses API to envelopes.

Everything in such a stream is said by the model's side. `response.completed` ends one response,
not the run: the owner may send tool results and ask again, and only the owner knows whether it
will. So this adapter never ends a run; whoever owns it concludes through `producer`.

Source: the union `ResponseStreamEvent` of the package openai 3.57, whose members are all here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from doneness.machine.adapters.base import (
    Contradiction,
    Row,
    Treatment,
    Unsupported,
    WireAdapter,
)
from doneness.machine.producer import Envelope
from doneness.spec.vocabulary import Kind


class _Numbered(msgspec.Struct, kw_only=True):
    sequence_number: int | None = None


class TextDelta(_Numbered):
    """A piece of output text."""

    item_id: str
    content_index: int
    delta: str


class TextDone(_Numbered):
    """The whole of an output text."""

    item_id: str
    content_index: int
    text: str


class Reason(msgspec.Struct):
    """Why a response ended badly."""

    code: str | None = None
    message: str | None = None
    reason: str | None = None


class Response(msgspec.Struct):
    """A response, as far as it is read."""

    id: str
    status: str | None = None
    error: Reason | None = None
    incomplete_details: Reason | None = None


class ResponseEvent(_Numbered):
    """An event that carries the whole response."""

    response: Response


class ErrorEvent(_Numbered):
    """The stream failed; why stands in the event (the package's form) or under `error`."""

    message: str | None = None
    code: str | None = None
    error: Reason | None = None


class Item(msgspec.Struct):
    """An output item, as far as it is read."""

    type: str
    id: str | None = None
    call_id: str | None = None
    status: str | None = None
    execution: str | None = None
    error: object = None


class ItemEvent(_Numbered):
    """An output item began or ended."""

    item: Item


class Other(_Numbered):
    """Only the number is read."""


_MAPPED: Final = Treatment.MAPPED
_OBSERVED: Final = Treatment.OBSERVED

_PROGRESS: Final = "progress of a response, no fact about the run"
_OF_ITEM: Final = "detail of an output item; the item itself is mapped when it begins and ends"
_REASONING: Final = "reasoning is no output text"
_REFUSAL: Final = "a refusal is no output text; the response still ends by its own event"
_AUDIO: Final = "audio is no output text"

_OBSERVED_TYPES: Final = {
    _PROGRESS: ("queued", "in_progress", "compaction.compacting"),
    _REFUSAL: ("refusal.delta", "refusal.done"),
    _AUDIO: ("audio.delta", "audio.done", "audio.transcript.delta", "audio.transcript.done"),
    _REASONING: (
        "reasoning_summary_part.added",
        "reasoning_summary_part.done",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_text.delta",
        "reasoning_text.done",
    ),
    _OF_ITEM: (
        "code_interpreter_call.completed",
        "code_interpreter_call.in_progress",
        "code_interpreter_call.interpreting",
        "code_interpreter_call_code.delta",
        "code_interpreter_call_code.done",
        "content_part.added",
        "content_part.done",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "file_search_call.completed",
        "file_search_call.in_progress",
        "file_search_call.searching",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "image_generation_call.completed",
        "image_generation_call.generating",
        "image_generation_call.in_progress",
        "image_generation_call.partial_image",
        "mcp_call.completed",
        "mcp_call.failed",
        "mcp_call.in_progress",
        "mcp_call_arguments.delta",
        "mcp_call_arguments.done",
        "mcp_list_tools.completed",
        "mcp_list_tools.failed",
        "mcp_list_tools.in_progress",
        "output_text.annotation.added",
        "shell_call_command.added",
        "shell_call_command.delta",
        "shell_call_command.done",
        "shell_call_output_content.delta",
        "shell_call_output_content.done",
        "web_search_call.completed",
        "web_search_call.in_progress",
        "web_search_call.searching",
    ),
}

TABLE: Final[Mapping[str, Row]] = {
    "error": Row(_MAPPED, ErrorEvent, "`model.unresolved`"),
    "response.created": Row(_MAPPED, ResponseEvent, "none; the ending must name this response"),
    "response.completed": Row(_MAPPED, ResponseEvent, "`model.completed`; never the run's end"),
    "response.failed": Row(_MAPPED, ResponseEvent, "`model.unresolved`"),
    "response.incomplete": Row(_MAPPED, ResponseEvent, "`model.unresolved`"),
    "response.output_text.delta": Row(_MAPPED, TextDelta, "`text.delta`"),
    "response.output_text.done": Row(_MAPPED, TextDone, "none; must equal the deltas before it"),
    "response.output_item.added": Row(_MAPPED, ItemEvent, "by the type of the item"),
    "response.output_item.done": Row(_MAPPED, ItemEvent, "by the type of the item"),
    # Gateways send it to keep a connection open.
    "keepalive": Row(_OBSERVED, Other, "heartbeat"),
    **{
        f"response.{name}": Row(_OBSERVED, Other, meaning)
        for meaning, names in _OBSERVED_TYPES.items()
        for name in names
    },
}
"""How each event type of the union `ResponseStreamEvent` is treated."""

_REQUEST: Final = "`tool.requested` at its end: the owner runs it"
_HOSTED: Final = (
    "`tool.requested` and `tool.started` where it begins, `tool.finished` or `tool.failed` "
    "where it ends: the provider runs it"
)
_OUTPUT: Final = "`tool.finished` of its call"
_NO_CALL: Final = "none: no call"
_WAIT: Final = "`approval.wait`"

ITEMS: Final[Mapping[str, str]] = {
    "message": _NO_CALL,
    "reasoning": _NO_CALL,
    "compaction": _NO_CALL,
    "additional_tools": _NO_CALL,
    "mcp_list_tools": _NO_CALL,
    "mcp_approval_response": _NO_CALL,
    "function_call": _REQUEST,
    "custom_tool_call": _REQUEST,
    "computer_call": _REQUEST,
    "local_shell_call": _REQUEST,
    "shell_call": _REQUEST,
    "apply_patch_call": _REQUEST,
    "program": _REQUEST,
    "tool_search_call": _REQUEST,
    "web_search_call": _HOSTED,
    "file_search_call": _HOSTED,
    "code_interpreter_call": _HOSTED,
    "image_generation_call": _HOSTED,
    "mcp_call": _HOSTED,
    "function_call_output": _OUTPUT,
    "custom_tool_call_output": _OUTPUT,
    "computer_call_output": _OUTPUT,
    "local_shell_call_output": _OUTPUT,
    "shell_call_output": _OUTPUT,
    "apply_patch_call_output": _OUTPUT,
    "program_output": _OUTPUT,
    "tool_search_output": _OUTPUT,
    "mcp_approval_request": _WAIT,
}
"""What each type of output item becomes. Source: `ResponseOutputItem` of openai 3.57."""

_FAILED_STATUSES: Final = frozenset({"failed", "incomplete"})
_ADDED: Final = "response.output_item.added"


class OpenAIResponsesAdapter(WireAdapter):
    """One stream, or several behind each other, of the Responses API."""

    format: ClassVar[str] = "openai-responses"
    table: ClassVar[Mapping[str, Row]] = TABLE
    framing_names_type: ClassVar[bool] = True
    owner_note: ClassVar[str] = (
        "`response.completed` is the model's statement about one response; "
        "how the run ended is said by the program that sent the request"
    )

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self._response: str | None = None  # the one that is open, if its beginning was seen
        self._texts: dict[tuple[str, int], list[str]] = {}
        self._hosted_calls: set[str] = set()
        # What was taken of the current response, by number: the event, and what it became.
        self._taken: dict[int, tuple[bytes, list[Envelope]]] = {}
        self._number: int | None = None

    def feed_value(self, value: object, event: str = "message") -> list[Envelope]:
        """See the base; the very same event again, by number and content, is sent again."""
        number = value.get("sequence_number") if isinstance(value, dict) else None
        if type(number) is not int:
            return super().feed_value(value, event)
        try:
            content = msgspec.json.encode(value, order="deterministic")
        except Exception:  # noqa: BLE001 # e.g. nested too deep: it is judged, and not remembered
            return super().feed_value(value, event)
        before = self._taken.get(number)
        if before is not None and before[0] == content:
            return list(before[1])
        envelopes = super().feed_value(value, event)
        self._taken[number] = content, envelopes
        return envelopes

    def _take(self, type_: str, event: Any) -> Iterator[Envelope]:
        emit = self._producer.emit
        match event:
            case ResponseEvent(response=response) if type_ == "response.created":
                if self._response is not None:
                    raise Contradiction(f"{self._response} has not ended")
                self._response = response.id
                self._texts.clear()
                self._taken.clear()  # the numbers of a new response start anew
                self._number = event.sequence_number
                return
            case _:
                self._count(event.sequence_number)
        match event:
            case TextDelta():
                self._texts.setdefault((event.item_id, event.content_index), []).append(event.delta)
                yield emit(Kind.TEXT_DELTA, text=event.delta)
            case TextDone():
                said = "".join(self._texts.get((event.item_id, event.content_index), ()))
                if said != event.text:
                    raise Contradiction("the whole text is not the sum of its deltas")
            case ItemEvent():
                yield from self._item(type_, event.item)
            case ErrorEvent():
                why = event.error or Reason(event.code, event.message)
                reason = why.code or why.message
                if reason is None:
                    raise ValueError("an error that says nothing")
                yield emit(Kind.MODEL_UNRESOLVED, response_id=self._response, reason=reason)
                self._response = None
            case ResponseEvent():
                yield self._ending(type_, event.response)

    def _ending(self, type_: str, response: Response) -> Envelope:
        if self._response not in (None, response.id):
            raise Contradiction(f"{self._response} is open, and this is {response.id}")
        self._response = None
        ended = type_.removeprefix("response.")
        if response.status not in (None, ended):
            raise Contradiction(f"the status of the response is {response.status}")
        if ended == "completed":
            return self._producer.emit(Kind.MODEL_COMPLETED, response_id=response.id)
        why = response.error or response.incomplete_details or Reason()
        reason = why.code or why.reason or why.message or ended
        return self._producer.emit(
            Kind.MODEL_UNRESOLVED, response_id=response.id, reason=f"{ended}: {reason}"
        )

    def _item(self, type_: str, item: Item) -> Iterator[Envelope]:
        meaning = ITEMS.get(item.type)
        if meaning is None:
            raise Unsupported(f"an item of type {item.type}, which nobody classified")
        if item.type.startswith("tool_search") and item.execution == "server":
            meaning = _HOSTED  # the one call that either side may run
        emit = self._producer.emit
        added = type_ == _ADDED
        if meaning is _HOSTED:
            yield from self._hosted(added, item)
        elif added or meaning is _NO_CALL:
            return
        elif meaning is _WAIT:
            yield emit(Kind.APPROVAL_WAIT)
        elif meaning is _OUTPUT:
            yield emit(Kind.TOOL_FINISHED, call_id=_call_id(item))
        elif item.status not in _FAILED_STATUSES:  # else its arguments are not whole: no request
            yield emit(Kind.TOOL_REQUESTED, call_id=_call_id(item))

    def _hosted(self, added: bool, item: Item) -> Iterator[Envelope]:
        emit = self._producer.emit
        call_id = item.id if item.execution is None else (item.call_id or item.id)
        if call_id is None:
            raise ValueError("a call without an id")
        if item.type == "tool_search_output":
            if not added:
                yield emit(Kind.TOOL_FINISHED, call_id=call_id)
            return
        if call_id not in self._hosted_calls:
            self._hosted_calls.add(call_id)
            yield emit(Kind.TOOL_REQUESTED, call_id=call_id)
            yield emit(Kind.TOOL_STARTED, call_id=call_id)
        if added or item.type == "tool_search_call":  # the latter ends with its output
            return
        failed = item.status in _FAILED_STATUSES or item.error is not None
        yield emit(Kind.TOOL_FAILED if failed else Kind.TOOL_FINISHED, call_id=call_id)

    def _count(self, number: int | None) -> None:
        """The numbers of one stream rise by one; a hole is lost evidence."""
        before, self._number = self._number, number
        if number is not None and before is not None and number != before + 1:
            self._number = max(number, before)
            raise Contradiction(f"sequence number {number} after {before}")


def _call_id(item: Item) -> str:
    call_id = item.call_id
    if not call_id:
        raise ValueError(f"{item.type}: expected a call_id")
    return call_id
