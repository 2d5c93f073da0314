"""The to-do list: its operations, and two processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from doneness.machine.agent.todo import NoSuchTodoError, TodoList


def test_the_list_is_kept_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "todo.sqlite"
    assert TodoList(path).list_todos() == []
    assert TodoList(path).add_todo("买牛奶") == {
        "todo_id": 1,
        "title": "买牛奶",
        "completed": False,
    }
    TodoList(path).add_todo("x'); DROP TABLE todo; --")
    assert TodoList(path).complete_todo(1)["completed"] is True
    assert TodoList(path).complete_todo(1)["completed"] is True
    assert [(each["todo_id"], each["completed"]) for each in TodoList(path).list_todos()] == [
        (1, True),
        (2, False),
    ]


def test_an_unknown_id_is_an_error_and_changes_nothing(todo: TodoList) -> None:
    todo.add_todo("a")
    with pytest.raises(NoSuchTodoError, match="no entry has the id 7"):
        todo.complete_todo(7)
    assert [each["completed"] for each in todo.list_todos()] == [False]


ADD = """
import sys
from doneness.machine.agent.todo import TodoList
todo = TodoList(sys.argv[1])
for number in range(60):
    added = todo.add_todo(f"{sys.argv[2]} {number}")
    todo.complete_todo(added["todo_id"])
"""


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "todo.sqlite"
    both = [
        subprocess.Popen([sys.executable, "-c", ADD, str(path), name])
        for name in ("first", "second")
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    todos = TodoList(path).list_todos()
    assert {each["title"] for each in todos} == {
        f"{name} {number}" for name in ("first", "second") for number in range(60)
    }
    assert len({each["todo_id"] for each in todos}) == 120
    assert all(each["completed"] for each in todos)
