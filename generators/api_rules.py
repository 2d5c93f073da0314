"""What a chat-completions API asks of `messages`; the loop keeps to it at every model call.

Written from the published API, not from the loop: roles, contents, the form of tool calls, and
that each assistant message with `tool_calls` is followed by one `tool` message for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


def faults(messages: Sequence[Any]) -> list[str]:
    """What an endpoint would refuse, each with the place; empty if nothing."""
    return list(_faults(messages))


def _faults(messages: Sequence[Any]) -> Iterator[str]:
    owed: list[str] = []  # the ids of calls whose `tool` message must come next
    seen: set[str] = set()
    for place, message in enumerate(messages):
        role = message.get("role")
        if owed and role != "tool":
            yield f"message {place}: {role}, while tool messages are owed for {owed}"
            owed = []
        if role == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in owed:
                yield f"message {place}: a tool message for {call_id!r}, which is not owed"
            else:
                owed.remove(call_id)
            yield from _text(place, message)
        elif role == "assistant":
            calls = message.get("tool_calls")
            if calls is None or message.get("content") is not None:
                yield from _text(place, message)
            if calls is not None:
                yield from _calls(place, calls, seen)
                owed = [call["id"] for call in calls]
        elif role in ("system", "developer", "user"):
            yield from _text(place, message)
        else:
            yield f"message {place}: unknown role {role!r}"
    if owed:
        yield f"the end: tool messages are owed for {owed}"


def _text(place: int, message: Any) -> Iterator[str]:
    content = message.get("content")
    if not isinstance(content, str) or not _is_utf8(content):
        yield f"message {place}: content {content!r} is no text"


def _calls(place: int, calls: Any, seen: set[str]) -> Iterator[str]:
    if not calls:
        yield f"message {place}: tool_calls is empty"
    for call in calls:
        call_id, function = call["id"], call["function"]
        if not isinstance(call_id, str) or not call_id or call_id in seen:
            yield f"message {place}: call id {call_id!r} is empty or used before"
        seen.add(call_id)
        if call["type"] != "function" or not _NAME.match(function["name"]):
            yield f"message {place}: call {call_id!r} has the name {function['name']!r}"
        if not isinstance(function["arguments"], str) or not _is_utf8(function["arguments"]):
            yield f"message {place}: the arguments of call {call_id!r} are no text"


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
