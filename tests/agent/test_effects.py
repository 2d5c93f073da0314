"""The example's own check, and the rules of its embedded model."""

from __future__ import annotations

import pytest

from doneness.machine.agent.conversation import Event
from doneness.machine.agent.effects import effects_hold
from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import Call, answer
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.testing import behaviour_of
from doneness.machine.agent.todo import Todo, TodoList
from doneness.machine.agent.todo_model import todo_model
from doneness.machine.agent.tools import Tools
from doneness.machine.agent.tracked import TrackedRun, TrackedRuns

ADDED: Event = {
    "type": "tool_result",
    "name": "add_todo",
    "output": '{"todo_id": 1, "title": "x", "completed": false}',
    "is_error": False,
}
COMPLETED: Event = {
    **ADDED,
    "name": "complete_todo",
    "output": '{"todo_id": 1, "title": "x", "completed": true}',
}
FAILED: Event = {**ADDED, "output": "too short", "is_error": True}
LISTED: Event = {**ADDED, "name": "list_todos", "output": "[]"}

OPEN: Todo = {"todo_id": 1, "title": "x", "completed": False}
CLOSED: Todo = {"todo_id": 1, "title": "x", "completed": True}


@pytest.mark.parametrize(
    ("events", "todos", "holds"),
    [
        ([], [], True),
        ([LISTED], [], True),
        ([ADDED], [OPEN], True),
        ([ADDED], [CLOSED], True),
        ([ADDED], [], False),
        ([ADDED], [{**OPEN, "title": "y"}], False),
        ([COMPLETED], [CLOSED], True),
        ([COMPLETED], [OPEN], False),
        ([FAILED], [], False),
        ([FAILED, ADDED], [OPEN], True),
        ([ADDED, FAILED], [OPEN], False),
        ([FAILED, COMPLETED], [CLOSED], False),
    ],
)
def test_the_list_confirms_what_was_reported(
    events: list[Event], todos: list[Todo], holds: bool
) -> None:
    assert effects_hold(events, todos) is holds


@pytest.mark.parametrize(
    ("wish", "tool", "arguments"),
    [
        ("add 买牛奶", "add_todo", {"title": "买牛奶"}),
        ("添加：买牛奶", "add_todo", {"title": "买牛奶"}),
        ("complete 1", "complete_todo", {"todo_id": 1}),
        ("完成第 1 项", "complete_todo", {"todo_id": 1}),
        ("what is there?", "list_todos", {}),
        ("add", "list_todos", {}),
    ],
)
def test_the_embedded_model_does_what_it_is_told(
    tools: Tools, todo: TodoList, wish: str, tool: str, arguments: dict[str, object]
) -> None:
    todo.add_todo("first")
    with ScriptedServer(todo_model) as server:
        did = behaviour_of(run_agent(wish, tools, server.endpoint()))
    did.first_tool(tool, **arguments).no_failed_tool().rounds_at_most(3).ends_in("done")
    assert effects_hold(did.events, todo.list_todos())


def test_the_embedded_model_admits_what_did_not_work(tools: Tools) -> None:
    with ScriptedServer(todo_model) as server:
        events = list(run_agent("complete 7", tools, server.endpoint()))
    text = "".join(str(event["content"]) for event in events if event["type"] == "token")
    assert "did not work" in text
    assert "The list is empty." in text


def test_a_round_limit_below_one_is_refused(tools: Tools) -> None:
    with ScriptedServer([]) as server:
        run = run_agent("go", tools, server.endpoint(), rounds_max=0)
        with pytest.raises(ValueError, match="rounds_max: expected at least 1"):
            next(run)


def test_a_change_that_the_list_refuses_leaves_it_as_it_was(todo: TodoList) -> None:
    with pytest.raises(Exception, match="CHECK constraint"):
        todo.add_todo("")
    assert todo.list_todos() == []


def test_the_runs_of_one_log_have_a_status_each(tools: Tools) -> None:
    with ScriptedServer([answer("x"), answer(Call("list_todos", {})), answer("y")]) as server:
        first = list(run_agent("go", tools, server.endpoint()))
        second = list(run_agent("go", tools, server.endpoint()))
    alone = TrackedRun("r")
    expected = [alone.line_after(event) for event in second]
    runs = TrackedRuns()
    for event in first:
        assert runs.cut_by(event) is None
        runs.line_after(event)
    assert runs.cut_by(second[0]) is None  # the first has ended
    assert [runs.line_after(event) for event in second[:4]] == expected[:4]
    assert str(runs.cut_by(first[0])).startswith("unknown: ")  # the second has not
    assert runs.line_after(first[0]).startswith("running: ")
    assert runs.close().startswith("unknown: ")
