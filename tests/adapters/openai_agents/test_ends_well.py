"""Runs that end well: none shows done before the application's check, none ends in unknown."""

from __future__ import annotations

import agents
import pytest
from agents.testing import assistant_message, function_call
from pydantic import BaseModel

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "合成巡检：已检查 2 项"


@agents.function_tool
def weather(city: str) -> str:
    return f"sunny in {city}"


@agents.function_tool
async def count(items: int) -> int:
    return items


@agents.function_tool
def broken() -> str:
    raise ValueError("no such file")


async def test_plain_text(stage):
    agent = agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    await stage.start(agent).to_end()
    assert stage.last.kinds == ["text.delta", "model.completed", "run.ended"]
    assert stage.last.progress.text == TEXT
    assert stage.last.progress.status == "checking"
    assert stage.last.shown_after_check(TEXT) == "done"


async def test_one_tool(stage):
    model = await stage.model(
        [[function_call("weather", {"city": "A"}, call_id="c1")], [assistant_message(TEXT)]]
    )
    await stage.start(agents.Agent(name="one", model=model, tools=[weather])).to_end()
    assert stage.last.kinds == [
        "model.completed",
        "tool.requested",
        "tool.started",
        "tool.finished",
        "text.delta",
        "model.completed",
        "run.ended",
    ]
    assert stage.last.tools == {"c1": "returned"}
    assert stage.last.shown_after_check("another") == "rejected"


async def test_parallel_tools(stage):
    calls = [
        function_call("weather", {"city": "A"}, call_id="c1"),
        function_call("count", {"items": 2}, call_id="c2"),
        function_call("weather", {"city": "B"}, call_id="c3"),
    ]
    model = await stage.model([calls, [assistant_message(TEXT)]])
    await stage.start(agents.Agent(name="one", model=model, tools=[weather, count])).to_end()
    assert stage.last.tools == {"c1": "returned", "c2": "returned", "c3": "returned"}
    assert [kind for kind, _ in stage.last.log].count("tool.started") == 3
    assert stage.last.shown_at_eof() == "checking"


async def test_failing_tool_that_the_agent_recovers_from(stage):
    model = await stage.model(
        [
            [
                function_call("broken", {}, call_id="c1"),
                function_call("count", {"items": 1}, call_id="c2"),
            ],
            [assistant_message(TEXT)],
        ]
    )
    await stage.start(agents.Agent(name="one", model=model, tools=[broken, count])).to_end()
    assert stage.last.tools == {"c1": "failed", "c2": "returned"}
    assert stage.last.shown_after_check(TEXT) == "done"


class Report(BaseModel):
    checked: int
    note: str


async def test_structured_output(stage):
    answer = assistant_message('{"checked": 2, "note": "合成"}')
    model = await stage.model([[answer]])
    run = stage.start(agents.Agent(name="one", model=model, output_type=Report))
    await run.to_end()
    assert run.result.final_output == Report(checked=2, note="合成")
    assert stage.last.progress.final_text == '{"checked":2,"note":"合成"}'
    assert stage.last.shown_after_check('{"checked":2,"note":"合成"}') == "done"


async def test_hand_off(stage):
    second = agents.Agent(name="second", model=await stage.model([[assistant_message(TEXT)]]))
    call = function_call("transfer_to_second", {}, call_id="h1")
    first = agents.Agent(name="first", model=await stage.model([[call]]), handoffs=[second])
    await stage.start(first).to_end()
    assert stage.last.tools == {}
    assert stage.last.progress.status == "checking"


async def test_of_several_hand_offs_one_is_taken(stage):
    second = agents.Agent(name="second", model=await stage.model([[assistant_message(TEXT)]]))
    third = agents.Agent(name="third", model=await stage.model([[assistant_message("no")]]))
    calls = [
        function_call("transfer_to_second", {}, call_id="h1"),
        function_call("transfer_to_third", {}, call_id="h2"),
    ]
    first = agents.Agent(name="first", model=await stage.model([calls]), handoffs=[second, third])
    await stage.start(first).to_end()
    assert stage.last.tools == {}
    assert stage.last.progress.status == "checking"


async def test_nested_agent_as_a_tool(stage):
    """The calls of the nested run are its own: they do not show in the outer one."""
    nested = agents.Agent(
        name="nested",
        model=await stage.model(
            [
                [function_call("weather", {"city": "A"}, call_id="c1")],
                [function_call("broken", {}, call_id="n2")],
                [assistant_message("inner")],
            ]
        ),
        tools=[weather, broken],
    )
    tool = nested.as_tool("ask_nested", "Asks.")
    outer = agents.Agent(
        name="outer",
        model=await stage.model(
            [
                [function_call("broken", {}, call_id="c0")],
                [function_call("ask_nested", {"input": "x"}, call_id="c1")],
                [assistant_message(TEXT)],
            ]
        ),
        tools=[tool, broken],
    )
    await stage.start(outer).to_end()
    assert stage.last.tools == {"c0": "failed", "c1": "returned"}
    assert stage.last.shown_at_eof() == "checking"
