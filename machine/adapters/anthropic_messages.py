"""From the stream of the Anthropic Messages API to envelopes.

Everything in such a stream is said by the model's side. `message_stop` ends one message, not the
run; a message that stopped to use a tool, or to pause its turn, expects another request. So this
adapter never ends a run.

Source: the unions `RawMessageStreamEvent`, `RawContentBlockStartEvent.ContentBlock`,
`RawContentBlockDelta` and `StopReason` of the package anthropic 2.14, their beta forms included,
and the events `ping` and `error`, which its stream reader handles by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from doneness.machine.adapters.base import (
    Anything,
    Contradiction,
    Row,
    Treatment,
    Unsupported,
    WireAdapter,
)
from doneness.machine.producer import Envelope
from doneness.spec.vocabulary import Kind


class Message(msgspec.Struct):
    """A message, as far as it is read."""

    id: str


class MessageStart(msgspec.Struct):
    """A message begins."""

    message: Message


class Block(msgspec.Struct):
    """A content block, as far as it is read."""

    type: str
    id: str | None = None
    text: str | None = None
    tool_use_id: str | None = None
    is_error: bool = False
    content: object = None


class BlockStart(msgspec.Struct):
    """A content block begins."""

    index: int
    content_block: Block


class DeltaBody(msgspec.Struct):
    """A piece of a content block."""

    type: str
    text: str | None = None


class BlockDelta(msgspec.Struct):
    """A piece of a content block arrives."""

    index: int
    delta: DeltaBody


class BlockStop(msgspec.Struct):
    """A content block ended."""

    index: int


class StopBody(msgspec.Struct):
    """Why the message stopped, if it did."""

    stop_reason: str | None = None


class MessageDelta(msgspec.Struct):
    """News about the message as a whole."""

    delta: StopBody


class ErrorBody(msgspec.Struct):
    """What went wrong."""

    type: str
    message: str | None = None


class ErrorEvent(msgspec.Struct):
    """The stream failed."""

    error: ErrorBody


_MAPPED: Final = Treatment.MAPPED

TABLE: Final[Mapping[str, Row]] = {
    "message_start": Row(_MAPPED, MessageStart, "none; what follows belongs to this message"),
    "content_block_start": Row(_MAPPED, BlockStart, "by the type of the block"),
    "content_block_delta": Row(_MAPPED, BlockDelta, "by the type of the delta"),
    "content_block_stop": Row(_MAPPED, BlockStop, "by the type of the block"),
    "message_delta": Row(_MAPPED, MessageDelta, "`model.unresolved`, by the `stop_reason`"),
    "message_stop": Row(
        _MAPPED, Anything, "`model.completed` after a good `stop_reason`; never the run's end"
    ),
    "error": Row(_MAPPED, ErrorEvent, "`model.unresolved`"),
    "ping": Row(Treatment.OBSERVED, Anything, "heartbeat"),
}
"""How each event type is treated."""

_CALL: Final = "`tool.requested` at a good `stop_reason`: the owner runs it"
_HOSTED: Final = "`tool.requested` and `tool.started` where the block ends: the provider runs it"
_RESULT: Final = "`tool.finished`, or `tool.failed` where the content is an error"
_NO_CALL: Final = "none: no call"

BLOCKS: Final[Mapping[str, str]] = {
    "text": "`text.delta`, where it begins with text",
    "thinking": _NO_CALL,
    "redacted_thinking": _NO_CALL,
    "container_upload": _NO_CALL,
    "compaction": _NO_CALL,
    "fallback": _NO_CALL,
    "mcp_tool_listing": _NO_CALL,
    "tool_use": _CALL,
    "server_tool_use": _HOSTED,
    "mcp_tool_use": _HOSTED,
    "web_search_tool_result": _RESULT,
    "web_fetch_tool_result": _RESULT,
    "code_execution_tool_result": _RESULT,
    "bash_code_execution_tool_result": _RESULT,
    "text_editor_code_execution_tool_result": _RESULT,
    "tool_search_tool_result": _RESULT,
    "advisor_tool_result": _RESULT,
    "mcp_tool_result": _RESULT,
}
"""What each type of content block becomes; another one blocks success."""

DELTAS: Final[Mapping[str, str]] = {
    "text_delta": "`text.delta`",
    "input_json_delta": "none: a fragment of a call's input",
    "thinking_delta": "none: thinking is no output text",
    "signature_delta": "none: it signs the thinking",
    "citations_delta": "none: it cites a source of the text",
    "compaction_delta": "none: a summary for the next request",
}
"""What each type of delta becomes; another one blocks success."""

_GOOD: Final = "`model.completed` at `message_stop`"

STOP_REASONS: Final[Mapping[str, str]] = {
    "end_turn": _GOOD,
    "stop_sequence": _GOOD,
    "tool_use": _GOOD,
    "max_tokens": "`model.unresolved`: the message is cut",
    "model_context_window_exceeded": "`model.unresolved`: the message is cut",
    "refusal": "`model.unresolved`: the message was stopped",
    "pause_turn": "`model.unresolved`: the turn goes on in the next request",
    "compaction": "`model.unresolved`: the turn goes on in the next request",
}
"""What each `stop_reason` becomes; another one blocks success."""


class AnthropicMessagesAdapter(WireAdapter):
    """One stream, or several behind each other, of the Messages API."""

    format: ClassVar[str] = "anthropic"
    table: ClassVar[Mapping[str, Row]] = TABLE
    framing_names_type: ClassVar[bool] = True
    owner_note: ClassVar[str] = (
        "`stop_reason` and `message_stop` are the model's statements about one message; "
        "how the run ended is said by the program that sent the request"
    )

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self._message: str | None = None  # the one that is open
        self._blocks: dict[int, Block] = {}  # those that are open
        self._seen: set[int] = set()  # indices of this message
        self._calls: list[str] = []  # of this message, whole only if it stops well
        self._stop_reason: str | None = None

    def _take(self, type_: str, event: Any) -> Iterator[Envelope]:
        emit = self._producer.emit
        match event:
            case ErrorEvent(error=error):
                reason = f"{error.type}: {error.message}" if error.message else error.type
                yield emit(Kind.MODEL_UNRESOLVED, response_id=self._message, reason=reason)
                self._close()
            case MessageStart(message=message):
                if self._message is not None:
                    raise Contradiction(f"{self._message} has not stopped")
                self._message = message.id
            case _ if type_ == "ping":
                return
            case _ if self._message is None:
                raise Contradiction("no message is open")
            case BlockStart():
                yield from self._begin(event.index, event.content_block)
            case BlockDelta(index=index, delta=delta):
                self._open_block(index)
                if delta.type not in DELTAS:
                    raise Unsupported(f"a delta of type {delta.type}, which nobody classified")
                if delta.type == "text_delta":
                    yield emit(Kind.TEXT_DELTA, text=_present(delta.text, "text_delta: text"))
            case BlockStop(index=index):
                self._open_block(index)
                yield from self._end(self._blocks.pop(index))
            case MessageDelta(delta=body) if body.stop_reason is not None:
                yield from self._stops(body.stop_reason)
            case MessageDelta():
                return
            case _:
                yield from self._stop(self._message)

    def _begin(self, index: int, block: Block) -> Iterator[Envelope]:
        if index in self._seen:
            raise Contradiction(f"block {index} was begun before")
        self._seen.add(index)
        self._blocks[index] = block
        meaning = BLOCKS.get(block.type)
        if meaning is None:
            raise Unsupported(f"a block of type {block.type}, which nobody classified")
        if block.type == "text" and block.text:
            yield self._producer.emit(Kind.TEXT_DELTA, text=block.text)
        if meaning is _RESULT:
            call_id = _present(block.tool_use_id, f"{block.type}: tool_use_id")
            kind = Kind.TOOL_FAILED if _is_error(block) else Kind.TOOL_FINISHED
            yield self._producer.emit(kind, call_id=call_id)

    def _end(self, block: Block) -> Iterator[Envelope]:
        meaning = BLOCKS.get(block.type)
        if meaning is _CALL:
            self._calls.append(_present(block.id, f"{block.type}: id"))
        elif meaning is _HOSTED:
            call_id = _present(block.id, f"{block.type}: id")
            yield self._producer.emit(Kind.TOOL_REQUESTED, call_id=call_id)
            yield self._producer.emit(Kind.TOOL_STARTED, call_id=call_id)

    def _open_block(self, index: int) -> None:
        if index not in self._blocks:
            raise Contradiction(f"block {index} is not open")

    def _stops(self, reason: str) -> Iterator[Envelope]:
        if self._stop_reason not in (None, reason):
            raise Contradiction(f"stopped for {self._stop_reason}, and now for {reason}")
        meaning = STOP_REASONS.get(reason)
        if meaning is None:
            raise Unsupported(f"stop_reason {reason}")
        if self._stop_reason is not None:
            return
        self._stop_reason = reason
        if meaning is not _GOOD:
            yield self._producer.emit(
                Kind.MODEL_UNRESOLVED, response_id=self._message, reason=reason
            )
            return
        if reason == "tool_use" and not self._calls:
            raise Contradiction("stopped for tool_use, and there is no call")
        for call_id in self._calls:
            yield self._producer.emit(Kind.TOOL_REQUESTED, call_id=call_id)

    def _stop(self, message: str) -> Iterator[Envelope]:
        reason, still_open = self._stop_reason, sorted(self._blocks)
        self._close()
        if still_open:
            raise Contradiction(f"block {still_open[0]} has not stopped")
        if reason is None:
            yield self._producer.emit(
                Kind.MODEL_UNRESOLVED, response_id=message, reason="stopped without a stop_reason"
            )
        elif STOP_REASONS[reason] is _GOOD:
            yield self._producer.emit(Kind.MODEL_COMPLETED, response_id=message)

    def _close(self) -> None:
        self._message = self._stop_reason = None
        self._blocks.clear()
        self._seen.clear()
        self._calls.clear()


def _is_error(block: Block) -> bool:
    content = block.content
    type_ = content.get("type") if isinstance(content, dict) else None
    return block.is_error or (isinstance(type_, str) and type_.endswith("_error"))


def _present(value: str | None, name: str) -> str:
    if value is None:
        raise ValueError(f"{name} is missing")
    return value
