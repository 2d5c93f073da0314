"""The example's acceptance (contract §4): are the effects that were reported really there.

The application does not ask the model whether the task is done. It compares what the tools said
they did with the list itself, read anew; and a change that failed must have been mended by a
later call of the same tool, whatever the model says about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from doneness.machine.agent.todo import Todo

CHANGES: Final = ("add_todo", "complete_todo")


def effects_hold(events: Iterable[Mapping[str, object]], todos: Iterable[Todo]) -> bool:
    """Whether no change failed for good, and each one is in the list as its tool reported it.

    Other processes may have completed, or added, entries meanwhile; that is no contradiction.
    """
    found = {todo["todo_id"]: todo for todo in todos}
    failed: set[object] = set()
    for event in events:
        tool = event.get("name")
        if event.get("type") != "tool_result" or tool not in CHANGES:
            continue
        if event.get("is_error"):
            failed.add(tool)
        elif _holds(json.loads(str(event["output"])), found):
            failed.discard(tool)
        else:
            return False
    return not failed


def _holds(reported: dict[str, Any], found: Mapping[int, Todo]) -> bool:
    todo = found.get(reported["todo_id"])
    if todo is None or todo["title"] != reported["title"]:
        return False
    return todo["completed"] or not reported["completed"]
