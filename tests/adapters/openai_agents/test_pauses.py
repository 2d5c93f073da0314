"""Approvals: a run that pauses, and what becomes of it under a new run of the same task."""

from __future__ import annotations

import agents
import pytest
from agents.testing import assistant_message, function_call

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "合成巡检：已检查 2 项"


@agents.function_tool
def weather(city: str) -> str:
    return f"sunny in {city}"


def _deletes(ran: list[str]) -> agents.FunctionTool:
    @agents.function_tool(needs_approval=True)
    def delete(path: str) -> str:
        ran.append(path)
        return "deleted"

    return delete


async def _paused(stage, ran):
    calls = [
        function_call("delete", {"path": "x"}, call_id="c1"),
        function_call("weather", {"city": "A"}, call_id="c2"),
    ]
    model = await stage.model([calls, [assistant_message(TEXT)]])
    agent = agents.Agent(name="one", model=model, tools=[_deletes(ran), weather])
    run = stage.start(agent)
    await run.to_end()
    return agent, run.result


async def test_pause(stage):
    ran: list[str] = []
    await _paused(stage, ran)
    assert stage.last.ended == ["paused"]
    assert stage.last.tools["c1"] == "requested"
    assert ran == []
    assert stage.last.shown_at_eof() == "waiting"


async def test_approved_and_resumed_under_a_new_run(stage):
    ran: list[str] = []
    agent, result = await _paused(stage, ran)
    state = result.to_state()
    state.approve(result.interruptions[0])
    await stage.start(agent, state).to_end()
    paused, resumed = stage.watches
    assert paused.progress.run != resumed.progress.run
    assert ran == ["x"]
    assert resumed.tools["c1"] == "returned"
    assert resumed.kinds[:3] == ["tool.requested", "tool.started", "tool.finished"]
    assert paused.shown_at_eof() == "waiting"
    assert resumed.shown_after_check(TEXT) == "done"


async def test_rejected_and_resumed(stage):
    """A rejected approval still ends in success, with an output in the tool's place."""
    ran: list[str] = []
    agent, result = await _paused(stage, ran)
    state = result.to_state()
    state.reject(result.interruptions[0])
    await stage.start(agent, state).to_end()
    assert ran == []
    assert stage.last.tools["c1"] == "returned"
    assert "tool.started" not in stage.last.kinds
    assert stage.last.shown_at_eof() == "checking"


async def test_resumed_but_undecided(stage):
    ran: list[str] = []
    agent, result = await _paused(stage, ran)
    await stage.start(agent, result.to_state()).to_end()
    assert stage.last.ended == ["paused"]
    assert stage.last.shown_at_eof() == "waiting"


async def test_resumed_from_a_state_that_was_saved_as_text(stage):
    ran: list[str] = []
    agent, result = await _paused(stage, ran)
    state = await agents.RunState.from_string(agent, result.to_state().to_string())
    state.approve(state.get_interruptions()[0])
    await stage.start(agent, state).to_end()
    assert ran == ["x"]
    assert stage.last.shown_after_check(TEXT) == "done"


async def test_in_a_nested_agent(stage):
    """The approval is asked for in the nested run; the outer call stays open until it is given."""
    ran: list[str] = []
    nested = agents.Agent(
        name="nested",
        model=await stage.model(
            [[function_call("delete", {"path": "x"}, call_id="n1")], [assistant_message("inner")]]
        ),
        tools=[_deletes(ran)],
    )
    outer = agents.Agent(
        name="outer",
        model=await stage.model(
            [[function_call("ask", {"input": "x"}, call_id="c1")], [assistant_message(TEXT)]]
        ),
        tools=[nested.as_tool("ask", "Asks.")],
    )
    run = stage.start(outer)
    await run.to_end()
    assert stage.last.ended == ["paused"]
    assert stage.last.tools == {"c1": "running"}
    state = run.result.to_state()
    state.approve(run.result.interruptions[0])
    await stage.start(outer, state).to_end()
    assert ran == ["x"]
    assert stage.last.tools == {"c1": "returned"}
    assert stage.last.shown_after_check(TEXT) == "done"


async def test_cancel_after_the_turn_that_pauses(stage):
    """Asked in this order: interruptions, then our record; the approval is still open."""
    model = await stage.model([[function_call("delete", {"path": "x"}, call_id="c1")]])
    run = stage.start(agents.Agent(name="one", model=model, tools=[_deletes([])]))
    async for event in run:
        if event.type == "run_item_stream_event":
            run.cancel("after_turn")
    assert run.result.interruptions
    assert stage.last.ended == ["paused"]
    assert stage.last.shown_at_eof() == "waiting"
