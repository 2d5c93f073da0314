"""A consumer that stops early: the HTTP stream is closed, and nothing is left behind."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from doneness.machine.agent.conversation import Message
from doneness.machine.agent.loop import run_agent, run_agent_async
from doneness.machine.agent.scripted_answers import (
    Call,
    answer,
    delayed,
    malformed,
    never_ending,
    refused,
)
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.tools import Tools

PATIENCE_SECONDS = 20.0


def open_sockets() -> set[str]:
    """The sockets of this process, as the system names them."""
    links = Path("/proc/self/fd")
    if not links.is_dir():
        pytest.skip("needs /proc to count open sockets")
    names = set()
    for link in links.iterdir():
        try:
            names.add(str(link.readlink()))
        except OSError:  # closed meanwhile: the listing's own descriptor
            continue
    return {name for name in names if name.startswith("socket:")}


def test_the_loop_is_lazy(tools: Tools) -> None:
    with ScriptedServer([answer("x")]) as server:
        events = run_agent("go", tools, server.endpoint())
        assert server.exchanges == []
        events.close()
        assert server.exchanges == []


def test_closing_in_mid_stream_is_seen_by_the_server(tools: Tools) -> None:
    sockets, threads = open_sockets(), set(threading.enumerate())
    with ScriptedServer([never_ending(answer("a", "b"))]) as server:
        with closing(run_agent("go", tools, server.endpoint())) as events:
            seen = [next(events)["type"] for _ in range(3)]
        assert seen == ["iteration_start", "token", "token"]
        assert server.exchanges[0].client_left.wait(PATIENCE_SECONDS)
        assert server.exchanges[0].over.wait(PATIENCE_SECONDS)
    assert open_sockets() == sockets
    assert set(threading.enumerate()) == threads


def test_leaving_a_loop_is_closing(tools: Tools) -> None:
    with ScriptedServer([never_ending(answer("a", "b"))]) as server:
        for event in run_agent("go", tools, server.endpoint()):
            if event["type"] == "token":
                break
        assert server.exchanges[0].client_left.wait(PATIENCE_SECONDS)


def test_closing_in_mid_stream_is_seen_by_the_server_async(tools: Tools) -> None:
    async def stop_early(server: ScriptedServer) -> list[object]:
        async with aclosing(run_agent_async("go", tools, server.endpoint())) as events:
            return [(await anext(events))["type"] for _ in range(3)]

    sockets, threads = open_sockets(), set(threading.enumerate())
    with ScriptedServer([never_ending(answer("a", "b"))]) as server:
        assert asyncio.run(stop_early(server)) == ["iteration_start", "token", "token"]
        assert server.exchanges[0].client_left.wait(PATIENCE_SECONDS)
    assert open_sockets() == sockets
    assert set(threading.enumerate()) == threads


def test_cancelling_the_task_that_waits_for_the_model_closes_the_stream(tools: Tools) -> None:
    async def cancelled(server: ScriptedServer) -> list[object]:
        seen: list[object] = []
        waiting = asyncio.Event()

        async def consume() -> None:
            async with aclosing(run_agent_async("go", tools, server.endpoint())) as events:
                async for event in events:
                    seen.append(event["type"])
                    if len(seen) == 3:
                        waiting.set()

        task = asyncio.create_task(consume())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    with ScriptedServer([never_ending(answer("a", "b"))]) as server:
        assert asyncio.run(cancelled(server)) == ["iteration_start", "token", "token"]
        assert server.exchanges[0].client_left.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize("stop_after", range(1, 8))
def test_the_messages_stay_whole_wherever_a_consumer_stops(tools: Tools, stop_after: int) -> None:
    calls = Call("list_todos", {}, "a"), Call("list_todos", {}, "b")
    messages: list[Message] = [{"role": "user", "content": "go"}]
    with (
        ScriptedServer([answer("x", *calls)]) as server,
        closing(run_agent(messages, tools, server.endpoint())) as events,
    ):
        types = [next(events)["type"] for _ in range(stop_after)]
    assert "done" not in types
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert answered == (["a", "b"] if len(messages) > 1 else [])
    if stop_after == 4:  # iteration, token, usage, tool_start: the tool has not begun
        assert ["not run" in str(message["content"]) for message in messages[2:]] == [True, True]


def test_an_interrupt_in_a_tool_leaves_its_effect_unknown() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    messages: list[Message] = []
    with ScriptedServer([answer(Call("interrupted", {}), Call("interrupted", {}))]) as server:
        events = run_agent(messages, Tools(interrupted), server.endpoint())
        with pytest.raises(KeyboardInterrupt):
            list(events)
    assert "its effect is unknown" in str(messages[1]["content"])
    assert "not run" in str(messages[2]["content"])


def test_a_stream_that_is_given_up_is_closed_before_the_error_is_told(tools: Tools) -> None:
    """Not when the consumer is done with the run: it may never come back."""
    held = never_ending(malformed(answer("a", "b"), 2, b"data: 3\n\n"))
    with ScriptedServer([held]) as server:
        events = run_agent("go", tools, server.endpoint())
        assert [next(events)["type"] for _ in range(3)] == ["iteration_start", "token", "error"]
        assert server.exchanges[0].client_left.wait(PATIENCE_SECONDS)
        events.close()


def test_a_stream_that_is_given_up_is_closed_before_the_error_is_told_async(tools: Tools) -> None:
    async def until_error(server: ScriptedServer) -> list[object]:
        async with aclosing(run_agent_async("go", tools, server.endpoint())) as events:
            seen = [(await anext(events))["type"] for _ in range(3)]
            assert await asyncio.to_thread(server.exchanges[0].client_left.wait, PATIENCE_SECONDS)
        return seen

    held = never_ending(malformed(answer("a", "b"), 2, b"data: 3\n\n"))
    with ScriptedServer([held]) as server:
        assert asyncio.run(until_error(server)) == ["iteration_start", "token", "error"]


def test_a_model_that_goes_silent_is_an_error_after_the_timeout(tools: Tools) -> None:
    with ScriptedServer([never_ending(answer("a"))]) as server:
        endpoint = server.endpoint(timeout_seconds=0.2, retries_max=0)
        events = list(run_agent("go", tools, endpoint))
    assert [event["type"] for event in events] == ["iteration_start", "token", "error"]
    assert "Timeout" in str(events[-1]["message"])


def test_the_client_calls_again_after_a_failure_that_may_pass(tools: Tools) -> None:
    refusals = [refused(503, "busy", retry_after_ms=1), refused(429, "slow", retry_after_ms=1)]
    with ScriptedServer([*refusals, answer("ok")]) as server:
        events = list(run_agent("go", tools, server.endpoint(retries_max=2)))
        assert len(server.exchanges) == 3
    assert events[-1]["type"] == "done"


def test_a_slow_model_is_waited_for(tools: Tools) -> None:
    with ScriptedServer([delayed(answer("a", "b"), 0.01)]) as server:
        events = list(run_agent("go", tools, server.endpoint()))
    assert events[-1]["type"] == "done"


def test_nobody_there_is_an_error(tools: Tools) -> None:
    with socket.socket() as unused:  # bound, and nobody listens
        unused.bind(("127.0.0.1", 0))
        with ScriptedServer([]) as server:
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
            endpoint = server.endpoint(base_url=url, retries_max=0)
            events = list(run_agent("go", tools, endpoint))
    assert [event["type"] for event in events] == ["iteration_start", "error"]


def test_a_client_of_the_callers_stays_open(tools: Tools) -> None:
    with (
        ScriptedServer([answer("a"), answer("b")]) as server,
        closing(server.endpoint().client()) as client,
    ):
        for _ in range(2):
            events = list(run_agent("go", tools, server.endpoint(), client=client))
            assert events[-1]["type"] == "done"
