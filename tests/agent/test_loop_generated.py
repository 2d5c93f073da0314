"""1,000 generated model scripts with faults, over real HTTP, against the declared loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from doneness.generators import api_rules, model_scripts
from doneness.generators.loop_oracle import objections
from doneness.machine.agent.conversation import Event, Message
from doneness.machine.agent.loop import run_agent, run_agent_async
from doneness.machine.agent.scripted_answers import Answer, answer, never_ending, unfinished
from doneness.machine.agent.scripted_server import Exchange, ScriptedServer, Sequence
from doneness.machine.agent.todo import TodoList
from doneness.machine.agent.tools import Tools
from doneness.machine.agent.tracked import TrackedRun

PATIENCE_SECONDS = 20.0
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck))


class SwitchedServer(ScriptedServer):
    """One server for many scripts, each with exchanges of its own."""

    def __init__(self) -> None:
        super().__init__(lambda request: self.current(request))  # noqa: PLW0108 - it is switched

    def switch(self, answers: Iterable[Answer]) -> list[Exchange]:
        self.current = Sequence(answers)
        self.exchanges = []
        return self.exchanges


@contextmanager
def laboratory(path: Path) -> Iterator[tuple[SwitchedServer, Tools]]:
    todo = TodoList(path / "todo.sqlite")
    with SwitchedServer() as server:
        yield server, Tools(todo.list_todos, todo.add_todo, todo.complete_todo)


def leftovers() -> tuple[set[str], set[threading.Thread]]:
    links = Path("/proc/self/fd")
    sockets = set()
    for link in links.iterdir() if links.is_dir() else ():
        try:
            sockets.add(str(link.readlink()))
        except OSError:  # the listing's own descriptor
            continue
    return {name for name in sockets if name.startswith("socket:")}, set(threading.enumerate())


def judge(events: list[Event], rounds_max: int, *, stopped: bool) -> None:
    assert objections(events, rounds_max, stopped=stopped) == []
    for event in events:
        json.dumps(event, ensure_ascii=False, allow_nan=False).encode()
        assert isinstance(event["ts"], float)
    ends = [event for event in events if event["type"] in ("done", "error")]
    assert len(ends) == (0 if stopped else 1)


def judge_status(events: list[Event]) -> None:
    """Adapted and reduced: never done before the application's check."""
    tracked = TrackedRun("r")
    for event in events:
        tracked.feed(event)
        assert tracked.progress.status != "done"
    tracked.close()
    last, progress = events[-1], tracked.progress
    if last["type"] == "done":
        assert progress.status == "checking"
    elif last["type"] == "error":
        limit = last["reason"] == "round_limit"
        assert progress.status == ("incomplete" if limit else "failed")
    else:
        assert progress.status == "unknown"
    assert progress.issues == []


@pytest.mark.slow
def test_a_thousand_scripts_with_faults(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One done or error, last; tools paired; messages valid; JSON; silence; nothing left behind."""
    before = leftovers()
    with laboratory(tmp_path) as (server, tools):
        endpoint = server.endpoint(timeout_seconds=0.15, retries_max=1)
        with closing(endpoint.client()) as client:

            @settings(QUICK, max_examples=1000)
            @given(
                script=model_scripts.scripts(),
                rounds_max=st.integers(1, 4),
                stop_after=st.none() | st.integers(1, 12),
            )
            @example(script=[never_ending(answer("合成"))], rounds_max=1, stop_after=2)
            @example(script=[unfinished(answer("合成"))], rounds_max=1, stop_after=None)
            def trial(script: list[Answer], rounds_max: int, stop_after: int | None) -> None:
                exchanges = server.switch(script)
                messages: list[Message] = [{"role": "user", "content": "go"}]
                events: list[Event] = []
                options: dict[str, Any] = {"rounds_max": rounds_max, "client": client}
                with closing(run_agent(messages, tools, endpoint, **options)) as run:
                    for event in run:
                        events.append(event)
                        if len(events) == stop_after:
                            break
                    over = events[-1]["type"] in ("done", "error")
                judge(events, rounds_max, stopped=not over)
                judge_status(events)
                if events[-1]["type"] == "done":  # the model itself said that its answer is whole
                    assert b'"finish_reason": "stop"' in script[len(exchanges) - 1].body
                for exchange in exchanges:
                    assert api_rules.faults(exchange.request["messages"]) == []
                    # Whatever it was doing, the server sees that nobody listens any more.
                    assert exchange.over.wait(PATIENCE_SECONDS)
                assert api_rules.faults(messages) == []

            trial()
    assert leftovers() == before
    assert capfd.readouterr() == ("", "")


def without_time(events: list[Event]) -> list[Event]:
    return [{name: value for name, value in event.items() if name != "ts"} for event in events]


@pytest.mark.slow
def test_both_kinds_of_code_behave_alike(tmp_path: Path) -> None:
    """The same script gives the same events and the same messages, whichever code runs it."""
    before = leftovers()

    async def collect(run: Callable[[], Any]) -> list[Event]:
        return [event async for event in run()]

    with laboratory(tmp_path) as (server, _):
        endpoint = server.endpoint(retries_max=1)
        with closing(endpoint.client()) as client, asyncio.Runner() as runner:
            async_client = endpoint.async_client()

            @settings(QUICK, max_examples=200)
            @given(script=model_scripts.scripts(model_scripts.TIMELESS))
            def trial(script: list[Answer]) -> None:
                def ordinary(messages: list[Message], tools: Tools) -> list[Event]:
                    return list(run_agent(messages, tools, endpoint, client=client))

                def asynchronous(messages: list[Message], tools: Tools) -> list[Event]:
                    return runner.run(
                        collect(
                            lambda: run_agent_async(messages, tools, endpoint, client=async_client)
                        )
                    )

                outcomes = []
                for run in (ordinary, asynchronous):
                    (tmp_path / "todo.sqlite").unlink(missing_ok=True)
                    todo = TodoList(tmp_path / "todo.sqlite")
                    tools = Tools(todo.list_todos, todo.add_todo, todo.complete_todo)
                    server.switch(script)
                    messages: list[Message] = []
                    outcomes.append((without_time(run(messages, tools)), messages))
                assert outcomes[0] == outcomes[1]

            trial()
            runner.run(async_client.close())
    assert leftovers() == before
