"""The embedded model of the example: rules instead of a network, for the scripted server.

It understands just enough to show the loop at work without a key: `add …`, `complete 3`, and
anything else as a wish to see the list. Like any model it is stateless and sees only the
messages; what it says about the list it reads from the tools' answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from doneness.machine.agent.scripted_answers import Answer, Call, answer

_ADD: Final = re.compile(r"\s*(?:add|新增|添加)[\s:：]*(?P<title>\S.*)", re.IGNORECASE | re.DOTALL)
_COMPLETE: Final = re.compile(
    r"\s*(?:complete|finish|完成)\D*(?P<todo_id>\d{1,18})", re.IGNORECASE | re.DOTALL
)


def todo_model(request: dict[str, Any]) -> Answer:
    """The answer to one request: a script for `ScriptedServer`."""
    messages = request["messages"]
    asked = max(n for n, message in enumerate(messages) if message["role"] == "user")
    results = [str(message["content"]) for message in messages[asked:] if message["role"] == "tool"]
    if not results:
        return _first(str(messages[asked]["content"]))
    if len(results) == 1 and not results[0].startswith("["):
        return answer("Let me look at the list.", Call("list_todos", {}))
    return answer(*_pieces(_told(results)))


def _first(wish: str) -> Answer:
    if found := _ADD.fullmatch(wish):
        return answer("I add it.", Call("add_todo", {"title": found["title"].strip()}))
    if found := _COMPLETE.match(wish):
        return answer("I complete it.", Call("complete_todo", {"todo_id": int(found["todo_id"])}))
    return answer(Call("list_todos", {}))


def _told(results: list[str]) -> str:
    complaint = "" if results[0].startswith(("[", "{")) else f"That did not work: {results[0]}\n"
    todos = json.loads(results[-1]) if results[-1].startswith("[") else []
    if not todos:
        return complaint + "The list is empty."
    lines = [
        f"{'✓' if todo['completed'] else '·'} {todo['todo_id']}. {todo['title']}" for todo in todos
    ]
    return complaint + "\n".join(["The list:", *lines])


def _pieces(text: str) -> Iterator[str]:
    """`text` in words, as a model streams it."""
    return (found.group() for found in re.finditer(r"\s*\S+\s*", text))
