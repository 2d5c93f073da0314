"""Hooks and consumers that raise, refusals, filters, sessions, another wire: what stands then."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import agents
import pytest
from agents.extensions import handoff_filters
from agents.lifecycle import RunHooksBase
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.testing import assistant_message, function_call
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from openai.types.responses import ResponseOutputMessage

from doneness.machine import Producer, Progress
from doneness.machine.adapters.openai_agents import final_text_of, run_streamed
from doneness.machine.agent.scripted_answers import Call, answer
from doneness.machine.agent.scripted_server import ScriptedServer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "合成巡检：已检查 2 项"
CALL = [function_call("weather", {"city": "A"}, call_id="c1")]
ANSWER = [assistant_message(TEXT)]


@agents.function_tool
def weather(city: str) -> str:
    return f"sunny in {city}"


class _Hooks(agents.RunHooks[Any]):
    def __init__(self) -> None:
        self.seen: list[str] = []

    async def on_llm_start(self, *_: Any, **__: Any) -> None:
        self.seen.append("llm_start")

    async def on_llm_end(self, *_: Any, **__: Any) -> None:
        self.seen.append("llm_end")

    async def on_agent_start(self, *_: Any, **__: Any) -> None:
        self.seen.append("agent_start")

    async def on_agent_end(self, *_: Any, **__: Any) -> None:
        self.seen.append("agent_end")

    async def on_handoff(self, *_: Any, **__: Any) -> None:
        self.seen.append("handoff")

    async def on_tool_start(self, *_: Any, **__: Any) -> None:
        self.seen.append("tool_start")

    async def on_tool_end(self, *_: Any, **__: Any) -> None:
        self.seen.append("tool_end")


async def test_the_host_s_own_hooks_are_all_called(scripted):
    """None of the SDK's hooks is lost on the way: each is overridden above, and each was seen."""
    second = agents.Agent(name="second", model=await scripted.model([ANSWER]))
    hand_over = [function_call("transfer_to_second", {}, call_id="h1")]
    model = await scripted.model([CALL, hand_over])
    first = agents.Agent(name="first", model=model, tools=[weather], handoffs=[second])
    hooks = _Hooks()
    await scripted.start(first, hooks=hooks).to_end()
    every = {name.removeprefix("on_") for name in dir(RunHooksBase) if name.startswith("on_")}
    assert set(hooks.seen) == every
    assert hooks.seen.count("tool_start") == hooks.seen.count("tool_end") == 1
    assert scripted.last.tools == {"c1": "returned"}


@pytest.mark.parametrize("hook", ["on_tool_start", "on_tool_end", "on_llm_end", "on_agent_end"])
async def test_a_hook_of_the_host_that_raises_fails_the_run(scripted, hook):
    class Raising(agents.RunHooks[Any]):
        pass

    async def raising(*_: Any, **__: Any) -> None:
        raise RuntimeError("hook")

    setattr(Raising, hook, raising)
    model = await scripted.model([CALL, ANSWER])
    agent = agents.Agent(name="one", model=model, tools=[weather])
    with pytest.raises(Exception, match="hook"):
        await scripted.start(agent, hooks=Raising()).to_end()
    assert scripted.last.ended == ["failed"]
    assert scripted.last.shown_at_eof() == "failed"


async def test_hooks_of_another_kind_are_refused(scripted):
    agent = agents.Agent(name="one", model=await scripted.model([ANSWER]))
    with pytest.raises(TypeError, match="expected the SDK's RunHooks, got AgentHooks"):
        scripted.start(agent, hooks=agents.AgentHooks())


class _SinkError(Exception):
    pass


@pytest.mark.parametrize("kind", ["text.delta", "tool.started", "tool.finished", "run.ended"])
async def test_a_consumer_of_envelopes_that_raises_is_told_and_nothing_is_concluded(scripted, kind):
    """The agent's own run is not broken by it; a lost envelope never looks like success."""
    model = await scripted.model([CALL, ANSWER])
    agent = agents.Agent(name="one", model=model, tools=[weather])
    progress = Progress("run-A")

    def sink(envelope: Any) -> None:
        if envelope["kind"] == kind:
            raise _SinkError(kind)
        progress.feed(envelope)

    run = run_streamed(agent, "go", producer=Producer("run-A"), to=sink)
    with pytest.raises(_SinkError):
        await run.to_end()
    assert run.result.final_output == TEXT
    assert progress.terminal is None
    progress.close_transport()
    assert progress.status == "unknown"
    with pytest.raises(_SinkError):
        await run.to_end()


async def test_an_exception_in_the_consumer_s_own_loop_concludes_nothing(scripted):
    run = scripted.start(agents.Agent(name="one", model=await scripted.model([ANSWER])))

    async def consume() -> None:
        async with aclosing(aiter(run)) as events:
            async for _ in events:
                raise LookupError

    with pytest.raises(LookupError):
        await consume()
    assert scripted.last.ended == []
    assert scripted.last.shown_at_eof() == "unknown"


async def test_a_consumer_that_breaks_off_and_comes_back(scripted):
    """The rest of the stream is lost, but the owner knows the end once the run has ended."""
    model = await scripted.model([CALL, ANSWER])
    run = scripted.start(agents.Agent(name="one", model=model, tools=[weather]))
    async with aclosing(aiter(run)) as events:
        await anext(events)
    assert scripted.last.ended == []
    await run.to_end()
    assert scripted.last.tools == {"c1": "returned"}
    assert scripted.last.shown_after_check(TEXT) == "done"


async def test_two_consumers_at_once_conclude_once(scripted):
    model = await scripted.model([CALL, ANSWER])
    run = scripted.start(agents.Agent(name="one", model=model, tools=[weather]))
    consumers = [asyncio.create_task(run.to_end()) for _ in range(2)]
    _, waiting = await asyncio.wait(consumers, timeout=20)
    assert not waiting
    assert scripted.last.ended == ["succeeded"]
    assert "done" not in scripted.last.statuses


@pytest.mark.parametrize("output_type", [None, list[int]])
async def test_a_refusal_fails_the_run(scripted, output_type):
    """The SDK raises it; the text of a refusal is no text of an answer."""
    refusal = ResponseOutputMessage(
        id="m1",
        type="message",
        role="assistant",
        status="completed",
        content=[{"type": "refusal", "refusal": "I cannot"}],
    )
    model = await scripted.model([[refusal]])
    agent = agents.Agent(name="one", model=model, output_type=output_type)
    with pytest.raises(agents.ModelRefusalError):
        await scripted.start(agent).to_end()
    assert scripted.last.progress.text == ""
    assert scripted.last.ended == ["failed"]


async def test_a_refusal_that_the_host_makes_a_result_of(scripted):
    refusal = ResponseOutputMessage(
        id="m1",
        type="message",
        role="assistant",
        status="completed",
        content=[{"type": "refusal", "refusal": "I cannot"}],
    )
    handlers = {"model_refusal": lambda _data: "none"}
    agent = agents.Agent(name="one", model=await scripted.model([[refusal]]))
    await scripted.start(agent, error_handlers=handlers).to_end()
    assert scripted.last.shown_after_check(TEXT) == "rejected"


async def test_a_hand_off_with_a_filter(scripted):
    second = agents.Agent(
        name="second", model=await scripted.model([CALL, ANSWER]), tools=[weather]
    )
    to_second = agents.handoff(second, input_filter=handoff_filters.remove_all_tools)
    first_call = [function_call("weather", {"city": "B"}, call_id="c0")]
    hand_over = [function_call("transfer_to_second", {}, call_id="h1")]
    model = await scripted.model([first_call, hand_over])
    first = agents.Agent(name="first", model=model, tools=[weather], handoffs=[to_second])
    await scripted.start(first).to_end()
    assert scripted.last.tools == {"c0": "returned", "c1": "returned"}
    assert scripted.last.shown_after_check(TEXT) == "done"


async def test_a_session_over_two_runs(scripted, tmp_path):
    session = agents.SQLiteSession("s", tmp_path / "session.sqlite")
    for _ in range(2):
        model = await scripted.model([CALL, ANSWER])
        agent = agents.Agent(name="one", model=model, tools=[weather])
        await scripted.start(agent, session=session).to_end()
        assert scripted.last.tools == {"c1": "returned"}
        assert scripted.last.shown_at_eof() == "checking"
    session.close()


async def test_a_nested_agent_that_streams(scripted):
    """Its events go to its own listener; only its call shows in the outer run."""
    heard: list[str] = []
    nested = agents.Agent(
        name="nested",
        model=await scripted.model([CALL, [assistant_message("inner")]]),
        tools=[weather],
    )

    async def listen(event: Any) -> None:
        heard.append(event["event"].type)

    tool = nested.as_tool("ask", "Asks.", on_stream=listen)
    ask = [function_call("ask", {"input": "x"}, call_id="c9")]
    outer = agents.Agent(name="outer", model=await scripted.model([ask, ANSWER]), tools=[tool])
    await scripted.start(outer).to_end()
    assert "raw_response_event" in heard
    assert scripted.last.progress.text == TEXT
    assert scripted.last.tools == {"c9": "returned"}


async def test_the_same_tool_inside_and_outside_with_the_same_call_id(scripted):
    """The nested failure is the nested call's, though the outer call has its id and its tool."""

    @agents.function_tool
    def sometimes(fail: bool) -> str:
        if fail:
            raise ValueError("x")
        return "fine"

    inner = [function_call("sometimes", {"fail": True}, call_id="c2")]
    nested = agents.Agent(
        name="nested",
        model=await scripted.model([inner, [assistant_message("inner")]]),
        tools=[sometimes],
    )
    both = [
        function_call("sometimes", {"fail": False}, call_id="c2"),
        function_call("ask", {"input": "x"}, call_id="c1"),
    ]
    outer = agents.Agent(
        name="outer",
        model=await scripted.model([both, ANSWER]),
        tools=[sometimes, nested.as_tool("ask", "Asks.")],
    )
    await scripted.start(outer).to_end()
    assert scripted.last.tools == {"c1": "returned", "c2": "returned"}


async def test_a_model_behind_chat_completions(scripted):
    """The SDK makes Responses events of another wire; the adapter does not notice."""
    answers = [answer(Call("weather", {"city": "A"}, "call_1")), answer("合成", "巡检")]
    with ScriptedServer(answers) as server:
        http = DefaultAsyncHttpxClient(trust_env=False)
        client = AsyncOpenAI(
            base_url=server.base_url, api_key="none", max_retries=0, http_client=http
        )
        async with client:
            model = OpenAIChatCompletionsModel("scripted", client)
            await scripted.start(agents.Agent(name="one", model=model, tools=[weather])).to_end()
    assert scripted.last.progress.text == "合成巡检"
    assert scripted.last.tools == {"call_1": "returned"}
    assert scripted.last.shown_after_check("合成巡检") == "done"


@dataclass
class _Point:
    x: int
    y: str


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (None, None),
        ("", ""),
        ("合成", "合成"),
        (_Point(1, "合"), '{"x":1,"y":"合"}'),
        ([1, None, True], "[1,null,true]"),
        (0, "0"),
        (b"\xff", None),
        (object, None),
    ],
)
def test_the_final_text_of_an_output(output, expected):
    made = final_text_of(output)
    assert made == (str(output) if expected is None and output is not None else expected)


async def test_a_final_text_that_the_host_words(scripted):
    agent = agents.Agent(name="one", model=await scripted.model([ANSWER]))
    await scripted.start(agent, text_of=lambda output: f"<{output}>").to_end()
    assert scripted.last.progress.final_text == f"<{TEXT}>"
