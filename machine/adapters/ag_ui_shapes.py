"""The shape of each AG-UI event: every field that the protocol describes, and its type.

AG-UI parts two things that look alike. What it does not describe is how it grows: a field, a kind
of part, a role that nobody knows says nothing here, and is no fault. A field that it does describe
and that holds something else is a defect, also where no rule of ours reads it: whoever sends it
does not speak the protocol, and what it says about the end of a run is worth nothing. So unions
are tables of shapes by their tag; what has another tag is left out.

Two fields are taken as they come. `rawEvent` may hold anything, and a `timestamp` any number,
since nothing computes with it. Absent and null are one for what may be absent, as producers of old
write null; not for `metadata`, `role`, `delta` and `outcome`, where the protocol rules it out.

Source: the JSON schema of AG-UI 1.1; for the retired events, the package ag-ui-protocol before 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

Role: TypeAlias = Literal["developer", "system", "assistant", "user"]
Open: TypeAlias = dict[str, object]
"""An object that is open by key."""
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Pointer: TypeAlias = Annotated[str, Meta(pattern=r"^(?:/(?:[^/~]|~[01])*)*\Z")]
"""A JSON pointer. Source: RFC 6901, section 3."""


def _known(values: Iterable[Open], tag: str, shapes: Mapping[str, type[Any]]) -> list[Any]:
    """Those values whose tag is in the table, each in its shape.

    Raises:
        ValueError: One has no tag, or is not of the shape that its tag asks for.
    """
    shaped = []
    for place, value in enumerate(values):
        name = value.get(tag)
        if not isinstance(name, str):
            raise ValueError(f"{tag} of number {place}: expected a str, got {type(name).__name__}")  # noqa: TRY004 # msgspec takes both, and this is about a value
        if name in shapes:
            try:
                shaped.append(msgspec.convert(value, shapes[name]))
            except msgspec.ValidationError as error:
                raise ValueError(f"number {place}, {name}: {error}") from None
    return shaped


class _Part(msgspec.Struct, rename="camel", kw_only=True):
    metadata: Open | UnsetType = UNSET


# What messages and results of tools are made of.


class InlineSource(msgspec.Struct, rename="camel"):
    """Bytes within the event."""

    value: str
    mime_type: str


class ReferredSource(msgspec.Struct, rename="camel"):
    """Bytes elsewhere."""

    value: str
    mime_type: str | None = None
    provider: str | None = None


SOURCES: Final[Mapping[str, type[Any]]] = {
    "data": InlineSource,
    "url": ReferredSource,
    "file": ReferredSource,
}


class TextPart(msgspec.Struct):
    """A piece of text."""

    text: str
    id: str | None = None


class MediaPart(msgspec.Struct):
    """A picture, a sound, a document."""

    source: Open
    id: str | None = None

    def __post_init__(self) -> None:
        """Judge the source too."""
        _known([self.source], "type", SOURCES)


PARTS: Final[Mapping[str, type[Any]]] = {
    "text": TextPart,
    "image": MediaPart,
    "audio": MediaPart,
    "video": MediaPart,
    "document": MediaPart,
}

Content: TypeAlias = str | list[Open]


def _judge_content(content: Content) -> None:
    if not isinstance(content, str):
        _known(content, "type", PARTS)


# Patches.


class ValueOperation(msgspec.Struct):
    """`add`, `replace`, `test`."""

    path: Pointer
    value: object


class RemoveOperation(msgspec.Struct):
    """`remove`."""

    path: Pointer


class FromOperation(msgspec.Struct, rename={"from_": "from"}):
    """`move`, `copy`."""

    path: Pointer
    from_: Pointer


OPERATIONS: Final[Mapping[str, type[Any]]] = {
    "add": ValueOperation,
    "replace": ValueOperation,
    "test": ValueOperation,
    "remove": RemoveOperation,
    "move": FromOperation,
    "copy": FromOperation,
}

# Messages of a conversation.


class _Said(_Part, kw_only=True):
    id: str
    subagent_run_id: str | None = None
    name: str | None = None
    encrypted_value: str | None = None
    encrypted_value_type: str | None = None


class PlainMessage(_Said):
    """A message of the developer or the system, or of reasoning."""

    content: str


class UserMessage(_Said):
    """A message of the user."""

    content: Content

    def __post_init__(self) -> None:
        """Judge the parts too."""
        _judge_content(self.content)


class FunctionCall(msgspec.Struct):
    """Which tool, and with what."""

    name: str
    arguments: str


class HistoryCall(_Part):
    """A call that an assistant's message holds."""

    id: str
    type: Literal["function"]
    function: FunctionCall
    encrypted_value: str | None = None
    encrypted_value_type: str | None = None


class AssistantMessage(_Said):
    """A message of the agent; parts are taken too, which the protocol reserves for later."""

    content: Content | None = None
    tool_calls: list[HistoryCall] | None = None

    def text(self) -> str:
        """What it says, in one text."""
        if isinstance(self.content, list):
            return "".join(part.text for part in _known(self.content, "type", {"text": TextPart}))
        return self.content or ""

    def __post_init__(self) -> None:
        """Judge the pieces of text too."""
        self.text()


class ToolMessage(UserMessage):
    """What a tool returned; with an `error`, it failed."""

    tool_call_id: str
    error: str | None = None


class ActivityMessage(_Said):
    """Progress that keeps its place in a conversation."""

    activity_type: str
    content: Open


MESSAGES: Final[Mapping[str, type[Any]]] = {
    "developer": PlainMessage,
    "system": PlainMessage,
    "reasoning": PlainMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
    "activity": ActivityMessage,
}

# Events about the run.


class Shape(_Part, kw_only=True):
    """What every event may hold."""

    timestamp: int | float | None = None


class Tool(_Part):
    """A tool that the agent may call."""

    name: str
    description: str


class Context(msgspec.Struct):
    """Something that the agent was told."""

    description: str
    value: str


class ResumeEntry(_Part):
    """The answer to an interrupt."""

    interrupt_id: str
    status: Literal["resolved", "cancelled"]


class RunInput(msgspec.Struct, rename="camel", kw_only=True):
    """What the agent was asked."""

    thread_id: str
    run_id: str
    protocol_version: str | None = None
    parent_run_id: str | None = None
    messages: list[Open]
    tools: list[Tool] | None = None
    context: list[Context] | None = None
    resume: list[ResumeEntry] | None = None

    def __post_init__(self) -> None:
        """Judge the messages too."""
        _known(self.messages, "role", MESSAGES)


class RunStarted(Shape):
    """`RUN_STARTED`."""

    thread_id: str
    run_id: str
    protocol_version: str | None = None
    parent_run_id: str | None = None
    input: RunInput | None = None


class Interrupt(_Part):
    """What a paused run waits for."""

    id: str
    reason: str
    message: str | None = None
    tool_call_id: str | None = None
    response_schema: Open | None = None
    expires_at: str | None = None
    subagent_run_id: str | None = None


class RunOutcome(msgspec.Struct, rename="camel"):
    """Why a run finished."""

    type: str
    pending_tool_call_ids: list[str] | UnsetType = UNSET
    interrupts: list[Interrupt] | UnsetType = UNSET


class TokenUsage(msgspec.Struct, rename="camel"):
    """What a model was used."""

    provider: str | None = None
    model: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cached_input_tokens: Count | None = None
    cache_write_input_tokens: Count | None = None


class RunFinished(Shape):
    """`RUN_FINISHED`."""

    thread_id: str
    run_id: str
    outcome: RunOutcome | UnsetType = UNSET
    usage: list[TokenUsage] | None = None


class RunError(Shape):
    """`RUN_ERROR`."""

    message: str
    code: str | None = None
    usage: list[TokenUsage] | None = None


class MessagesSnapshot(Shape):
    """`MESSAGES_SNAPSHOT`; of the messages, those whose role is known."""

    messages: list[Any]

    def __post_init__(self) -> None:
        """Shape the messages."""
        self.messages = _known(msgspec.convert(self.messages, list[Open]), "role", MESSAGES)


# Events within the run, which may be a subagent's.


class Owned(Shape, kw_only=True):
    """What every event may hold that can be a subagent's."""

    subagent_run_id: str | None = None


class Step(Owned):
    """`STEP_*`."""

    step_name: str


class Message(Owned):
    """An event that names a message."""

    message_id: str


class TextStart(Message):
    """`TEXT_MESSAGE_START`."""

    role: Role | UnsetType = UNSET
    name: str | None = None


class Piece(Message):
    """A piece of a message."""

    delta: str


class TextChunk(Owned):
    """`TEXT_MESSAGE_CHUNK`."""

    message_id: str | None = None
    name: str | None = None
    role: Role | UnsetType = UNSET
    delta: str = ""


class ReasoningMessageStart(Message):
    """`REASONING_MESSAGE_START`."""

    role: Literal["reasoning"]


class ReasoningChunk(Owned):
    """`REASONING_MESSAGE_CHUNK`."""

    message_id: str | None = None
    delta: str = ""


class Encrypted(Owned):
    """`REASONING_ENCRYPTED_VALUE`."""

    subtype: Literal["tool-call", "message"]
    entity_id: str
    encrypted_value: str
    encrypted_value_type: str | None = None


class Call(Owned):
    """An event that names a tool call."""

    tool_call_id: str


class CallStart(Call):
    """`TOOL_CALL_START`."""

    tool_call_name: str
    parent_message_id: str | None = None


class CallArgs(Call):
    """`TOOL_CALL_ARGS`."""

    delta: str


class CallChunk(Owned):
    """`TOOL_CALL_CHUNK`."""

    tool_call_id: str | None = None
    tool_call_name: str | None = None
    parent_message_id: str | None = None
    delta: str = ""


class CallResult(Call):
    """`TOOL_CALL_RESULT`."""

    message_id: str
    content: Content
    role: Literal["tool"] | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Judge the parts too."""
        _judge_content(self.content)


class StateSnapshot(Owned):
    """`STATE_SNAPSHOT`."""

    snapshot: object


class StateDelta(Owned):
    """`STATE_DELTA`."""

    delta: list[Open]

    def __post_init__(self) -> None:
        """Judge the operations too."""
        _known(self.delta, "op", OPERATIONS)


class ActivitySnapshot(Message):
    """`ACTIVITY_SNAPSHOT`."""

    activity_type: str
    content: Open
    replace: bool | None = None


class ActivityDelta(Message):
    """`ACTIVITY_DELTA`."""

    activity_type: str
    patch: list[Open]

    def __post_init__(self) -> None:
        """Judge the operations too."""
        _known(self.patch, "op", OPERATIONS)


class Raw(Owned):
    """`RAW`."""

    event: object
    source: str | None = None


class Custom(Owned):
    """`CUSTOM`."""

    name: str
    value: object


class Subagent(Shape):
    """An event about a subagent."""

    subagent_run_id: str


class SubagentStarted(Subagent):
    """`SUBAGENT_STARTED`."""

    name: str
    description: str | None = None
    parent_subagent_run_id: str | None = None
    parent_tool_call_id: str | None = None
    parent_message_id: str | None = None


class SubagentOutcome(msgspec.Struct, rename="camel"):
    """Why a subagent's part ended."""

    type: str
    interrupt_ids: list[str] | None = None


class SubagentFinished(Subagent):
    """`SUBAGENT_FINISHED`."""

    outcome: SubagentOutcome | UnsetType = UNSET


class SubagentError(Subagent):
    """`SUBAGENT_ERROR`."""

    message: str
    code: str | None = None


# Reasoning of a retired form.


class ThinkingStart(Owned):
    """`THINKING_START`."""

    title: str | None = None


class ThinkingPiece(Owned):
    """`THINKING_TEXT_MESSAGE_CONTENT`."""

    delta: str
