"""What the agent tests share: the example's tools on a fresh list, and one short way to run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from pathlib import Path

import pytest

from doneness.machine.agent.conversation import Event, Message
from doneness.machine.agent.loop import run_agent, run_agent_async
from doneness.machine.agent.scripted_answers import Answer
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.todo import TodoList
from doneness.machine.agent.tools import Tools

Run = Callable[..., list[Event]]


@pytest.fixture
def todo(tmp_path: Path) -> TodoList:
    return TodoList(tmp_path / "todo.sqlite")


@pytest.fixture
def tools(todo: TodoList) -> Tools:
    return Tools(todo.list_todos, todo.add_todo, todo.complete_todo)


async def _all(
    messages: list[Message], tools: Tools, server: ScriptedServer, rounds_max: int
) -> list[Event]:
    endpoint = server.endpoint(retries_max=0)
    events = run_agent_async(messages, tools, endpoint, rounds_max=rounds_max)
    async with aclosing(events):
        return [event async for event in events]


@pytest.fixture(params=["ordinary", "asynchronous"])
def run(request: pytest.FixtureRequest, tools: Tools) -> Run:
    """Runs the loop on scripted answers, in both kinds of code; returns all events."""

    def run_it(
        answers: Iterable[Answer], messages: list[Message] | None = None, rounds_max: int = 12
    ) -> list[Event]:
        record: list[Message] = (
            [{"role": "user", "content": "go"}] if messages is None else messages
        )
        with ScriptedServer(answers) as server:
            if request.param == "asynchronous":
                return asyncio.run(_all(record, tools, server, rounds_max))
            endpoint = server.endpoint(retries_max=0)
            return list(run_agent(record, tools, endpoint, rounds_max=rounds_max))

    return run_it
