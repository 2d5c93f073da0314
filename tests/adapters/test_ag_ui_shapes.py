"""What AG-UI describes is judged, also where nothing reads it; what it does not describe is not.

For each event type one event with all that the protocol describes. From each of its members, at
any depth, one breach: another type of value, and where the member is required, its absence.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from doneness.machine.adapters.ag_ui import TABLE, AGUIAdapter

USAGE = {
    "provider?": "p",
    "model?": "m",
    "inputTokens?": 1,
    "outputTokens?": 1,
    "totalTokens?": 2,
    "reasoningTokens?": 0,
    "cachedInputTokens?": 0,
    "cacheWriteInputTokens?": 0,
}
PARTS = [
    {"type": "text", "text": "x", "id?": "p1"},
    {"type": "image", "source": {"type": "data", "value": "AA==", "mimeType": "image/png"}},
    {"type": "audio", "source": {"type": "url", "value": "u", "mimeType?": "audio/ogg"}},
    {"type": "document", "id?": "p", "source": {"type": "file", "value": "f", "provider?": "p"}},
]
PATCH = [
    {"op": "add", "path": "/a", "value": None},
    {"op": "replace", "path": "/a~1b/0", "value": 1},
    {"op": "test", "path": "", "value": 1},
    {"op": "remove", "path": "/a"},
    {"op": "move", "path": "/a", "from": "/b"},
    {"op": "copy", "path": "/a", "from": "/b"},
]
SAID = {"id": "m", "encryptedValue?": "e", "encryptedValueType?": "t", "subagentRunId?": "s"}
MESSAGES = [
    {"role": "developer", "content": "x", "name?": "n", **SAID},
    {"role": "system", "content": "x", **SAID},
    {"role": "user", "content": "x", **SAID},
    {"role": "user", "content": PARTS, "id": "m"},
    {
        "role": "assistant",
        "content?": "x",
        "toolCalls?": [
            {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{"}}
        ],
        **SAID,
    },
    {"role": "tool", "content": "x", "toolCallId": "c", "error?": "e", **SAID},
    {"role": "activity", "activityType": "t", "content": {"any": None}, "id": "m"},
    {"role": "reasoning", "content": "x", **SAID},
]
INPUT = {
    "threadId": "t",
    "runId": "r",
    "protocolVersion?": "1.1",
    "parentRunId?": "r0",
    "messages": MESSAGES,
    "tools?": [{"name": "t", "description": "d"}],
    "context?": [{"description": "d", "value": "v"}],
    "resume?": [{"interruptId": "i", "status": "resolved"}],
}
INTERRUPT = {
    "id": "i",
    "reason": "r",
    "message?": "m",
    "toolCallId?": "c",
    "responseSchema?": {},
    "expiresAt?": "soon",
    "subagentRunId?": "s",
}
MESSAGE = {"messageId": "m"}
CALL = {"toolCallId": "c"}
PIECE = {"delta": "x"}
SUBAGENT = {"subagentRunId": "s"}

# A member whose name ends in `?` may be absent.
DESCRIBED: dict[str, list[dict[str, Any]]] = {
    "RUN_STARTED": [
        {
            "threadId": "t",
            "runId": "r",
            "protocolVersion?": "1.1",
            "parentRunId?": "r0",
            "input?": INPUT,
        }
    ],
    "RUN_FINISHED": [
        {"threadId": "t", "runId": "r", "usage?": [USAGE]},
        {
            "threadId": "t",
            "runId": "r",
            "outcome?": {"type": "success", "pendingToolCallIds?": ["c"]},
        },
        {
            "threadId": "t",
            "runId": "r",
            # Without interrupts it is a contradiction instead.
            "outcome?": {"type": "interrupt", "interrupts?": [INTERRUPT]},
        },
        {"threadId": "t", "runId": "r", "outcome?": {"type": "cancelled"}},
    ],
    "RUN_ERROR": [{"message": "m", "code?": "c", "usage?": [USAGE]}],
    "STEP_STARTED": [{"stepName": "s"}],
    "STEP_FINISHED": [{"stepName": "s"}],
    "TEXT_MESSAGE_START": [{**MESSAGE, "role?": "user", "name?": "n"}],
    "TEXT_MESSAGE_CONTENT": [{**MESSAGE, **PIECE}],
    "TEXT_MESSAGE_END": [MESSAGE],
    "TEXT_MESSAGE_CHUNK": [{"messageId?": "m", "role?": "user", "delta?": "x", "name?": "n"}],
    "TOOL_CALL_START": [{**CALL, "toolCallName": "t", "parentMessageId?": "m"}],
    "TOOL_CALL_ARGS": [{**CALL, **PIECE}],
    "TOOL_CALL_END": [CALL],
    "TOOL_CALL_CHUNK": [
        {"toolCallId?": "c", "toolCallName?": "t", "parentMessageId?": "m", "delta?": "x"}
    ],
    "TOOL_CALL_RESULT": [
        {**CALL, **MESSAGE, "content": "x", "role?": "tool"},
        {**CALL, **MESSAGE, "content": PARTS},
    ],
    "MESSAGES_SNAPSHOT": [{"messages": MESSAGES}],
    "STATE_SNAPSHOT": [{"snapshot": None}],
    "STATE_DELTA": [{"delta": PATCH}],
    "ACTIVITY_SNAPSHOT": [{**MESSAGE, "activityType": "t", "content": {}, "replace?": False}],
    "ACTIVITY_DELTA": [{**MESSAGE, "activityType": "t", "patch": PATCH}],
    "RAW": [{"event": None, "source?": "s"}],
    "CUSTOM": [{"name": "n", "value": None}],
    "REASONING_START": [MESSAGE],
    "REASONING_MESSAGE_START": [{**MESSAGE, "role": "reasoning"}],
    "REASONING_MESSAGE_CONTENT": [{**MESSAGE, **PIECE}],
    "REASONING_MESSAGE_END": [MESSAGE],
    "REASONING_MESSAGE_CHUNK": [{"messageId?": "m", "delta?": "x"}],
    "REASONING_END": [MESSAGE],
    "REASONING_ENCRYPTED_VALUE": [
        {
            "subtype": "message",
            "entityId": "m",
            "encryptedValue": "e",
            "encryptedValueType?": "t",
        }
    ],
    "SUBAGENT_STARTED": [
        {
            **SUBAGENT,
            "name": "n",
            "description?": "d",
            "parentSubagentRunId?": "s0",
            "parentToolCallId?": "c",
            "parentMessageId?": "m",
        }
    ],
    "SUBAGENT_FINISHED": [
        {**SUBAGENT, "outcome?": {"type": "success"}},
        {**SUBAGENT, "outcome?": {"type": "suspended", "interruptIds?": ["i"]}},
    ],
    "SUBAGENT_ERROR": [{**SUBAGENT, "message": "m", "code?": "c"}],
    "THINKING_START": [{"title?": "t"}],
    "THINKING_END": [{}],
    "THINKING_TEXT_MESSAGE_START": [{}],
    "THINKING_TEXT_MESSAGE_CONTENT": [PIECE],
    "THINKING_TEXT_MESSAGE_END": [{}],
}
EVERY = {"timestamp?": 1, "metadata?": {"any": None}}
OF_THE_RUN = ("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT")
ANY_VALUE = ("snapshot", "event", "value", "any")

Path = tuple[str | int, ...]


def written() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each event as written above, with what every event may have."""
    for type_, several in DESCRIBED.items():
        for members in several:
            owner = (
                {} if type_ in OF_THE_RUN or "subagentRunId" in members else {"subagentRunId?": "s"}
            )
            yield type_, {**members, **EVERY, **owner}


def plain(value: Any) -> Any:
    """The value as it is sent."""
    if isinstance(value, dict):
        return {name.removesuffix("?"): plain(held) for name, held in value.items()}
    return [plain(held) for held in value] if isinstance(value, list) else value


def members(value: Any, path: Path = ()) -> Iterator[tuple[Path, bool, Any]]:
    """Each member at any depth: its path, whether it is required, and what it holds."""
    if isinstance(value, dict):
        for name, held in value.items():
            here = (*path, name.removesuffix("?"))
            yield here, not name.endswith("?"), held
            yield from members(held, here)
    elif isinstance(value, list):
        for place, held in enumerate(value):
            if not isinstance(held, dict):
                yield (*path, place), False, held
            yield from members(held, (*path, place))


def breaches() -> Iterator[Any]:
    for number, (type_, event) in enumerate(written()):
        for path, required, held in members(event):
            free = path[-1] in ANY_VALUE and not isinstance(held, str)
            if not free:
                yield pytest.param(type_, event, path, held, id=f"{number}-{type_}-{path} other")
            if required and path[-1] != "any":
                yield pytest.param(type_, event, path, None, id=f"{number}-{type_}-{path} absent")


def kinds(event: dict[str, Any]) -> list[str]:
    """What becomes of the event at the start of a stream, where any order is a contradiction."""
    return [envelope["kind"] for envelope in AGUIAdapter("run").feed_value(event)]


def test_every_event_type_is_described_here() -> None:
    assert DESCRIBED.keys() == TABLE.keys()


@pytest.mark.parametrize(("type_", "event"), [*written()])
def test_what_is_described_is_no_breach(type_: str, event: dict[str, Any]) -> None:
    whole = {"type": type_, **plain(event)}
    least = {name: value for name, value in event.items() if not name.endswith("?")}
    for said in (whole, {"type": type_, **plain(least)}, {**whole, "hologram": {"a": [1]}}):
        assert "adapter.malformed_event" not in kinds(said)


@pytest.mark.parametrize(("type_", "event", "path", "held"), [*breaches()])
def test_another_type_or_an_absence_is_a_breach(
    type_: str, event: dict[str, Any], path: Path, held: Any
) -> None:
    said = {"type": type_, **plain(copy.deepcopy(event))}
    holder = said
    for step in path[:-1]:
        holder = holder[step]
    if held is None:
        del holder[path[-1]]
    else:
        holder[path[-1]] = 7.5 if isinstance(held, int) and path[-1] != "timestamp" else True
        if isinstance(held, bool):
            holder[path[-1]] = "yes"
    assert kinds(said) == ["adapter.malformed_event"]


@pytest.mark.parametrize(
    ("type_", "members"),
    [
        ("TOOL_CALL_RESULT", {**CALL, **MESSAGE, "content": [{"type": "hologram", "text": 1}]}),
        (
            "TOOL_CALL_RESULT",
            {**CALL, **MESSAGE, "content": [{"type": "image", "source": {"type": "ether"}}]},
        ),
        ("MESSAGES_SNAPSHOT", {"messages": [{"role": "oracle", "content": 1}]}),
        ("STATE_DELTA", {"delta": [{"op": "increment", "path": 1}]}),
        ("STATE_DELTA", {"delta": [{"op": "remove", "path": "/a", "value": 1}]}),
        ("RUN_STARTED", {"threadId": "t", "runId": "r", "subagentRunId": 1, "rawEvent": None}),
        ("CUSTOM", {"name": "n", "value": 1, "timestamp": 1.5, "rawEvent": 1}),
    ],
)
def test_what_is_not_described_is_no_breach(type_: str, members: dict[str, Any]) -> None:
    assert "adapter.malformed_event" not in kinds({"type": type_, **members})


@pytest.mark.parametrize(
    ("type_", "members"),
    [
        ("STATE_DELTA", {"delta": [{"op": "remove", "path": "a"}]}),
        ("STATE_DELTA", {"delta": [{"op": "remove", "path": "/a~2"}]}),
        ("REASONING_ENCRYPTED_VALUE", {"subtype": "x", "entityId": "m", "encryptedValue": "e"}),
        ("RUN_ERROR", {"message": "m", "usage": [{"inputTokens": -1}]}),
        ("RUN_STARTED", {"threadId": "t", "runId": "r", "metadata": None}),
        ("STATE_SNAPSHOT", {}),
        ("STATE_DELTA", {"delta": [1]}),
    ],
)
def test_a_value_that_is_ruled_out_is_a_breach(type_: str, members: dict[str, Any]) -> None:
    assert kinds({"type": type_, **members}) == ["adapter.malformed_event"]
