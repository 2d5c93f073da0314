"""Cancelled runs: both modes, before and after the last text, with a tool that still runs."""

from __future__ import annotations

import asyncio
import threading

import agents
import pytest
from agents.testing import assistant_message, function_call

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "合成巡检：已检查 2 项"


def _is_text(event) -> bool:
    return event.type == "raw_response_event" and event.data.type == "response.output_text.delta"


@agents.function_tool
def weather(city: str) -> str:
    return f"sunny in {city}"


class Held:
    """A tool that runs until it is cancelled, and the event that it runs."""

    def __init__(self) -> None:
        self.runs = asyncio.Event()

        @agents.function_tool
        async def slow() -> str:
            self.runs.set()
            await asyncio.Event().wait()
            return "never"

        self.tool = slow


async def _start(stage, tool):
    """A run that calls the tool at once."""
    model = await stage.model([[function_call(tool.name, {}, call_id="c1")], []])
    return stage.start(agents.Agent(name="one", model=model, tools=[tool]))


async def _to_end(run, once, cancel):
    """Consume the run to its end; cancel it once the tool runs."""

    async def cancel_soon() -> None:
        await once.wait()
        cancel()

    async with asyncio.TaskGroup() as group:
        group.create_task(cancel_soon())
        await run.to_end()


@pytest.mark.parametrize("mode", ["immediate", "after_turn"])
async def test_after_the_last_text(stage, mode):
    agent = agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    run = stage.start(agent)
    async for event in run:
        if _is_text(event):
            run.cancel(mode)
            assert stage.last.progress.status == "cancelling"
    assert stage.last.progress.text == TEXT
    assert stage.last.ended == ["cancelled"]
    assert stage.last.shown_at_eof() == "cancelled"


@pytest.mark.parametrize("mode", ["immediate", "after_turn"])
async def test_in_mid_run_before_any_text(stage, mode):
    model = await stage.model(
        [[function_call("weather", {"city": "A"}, call_id="c1")], [assistant_message(TEXT)]]
    )
    run = stage.start(agents.Agent(name="one", model=model, tools=[weather]))
    async for event in run:
        if event.type == "run_item_stream_event" and event.name == "tool_called":
            run.cancel(mode)
    assert stage.last.progress.text == ""
    assert stage.last.tools["c1"] == ("requested" if mode == "immediate" else "returned")
    assert stage.last.ended == ["cancelled"]
    assert stage.last.shown_at_eof() == "cancelled"


@pytest.mark.parametrize("mode", ["immediate", "after_turn"])
async def test_before_the_stream_is_read(stage, mode):
    agent = agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    run = stage.start(agent)
    run.cancel(mode)
    await run.to_end()
    assert stage.last.ended == ["cancelled"]


async def test_past_our_back_on_the_sdk_s_own_result(stage):
    """A cancel after this turn leaves no public trace, so the result's own method records it."""
    agent = agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    run = stage.start(agent)
    async for event in run:
        if _is_text(event):
            run.result.cancel(mode="after_turn")
    assert stage.last.ended == ["cancelled"]
    assert stage.last.kinds.count("cancel.requested") == 1


async def test_after_the_end_it_changes_nothing(stage):
    agent = agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    run = stage.start(agent)
    await run.to_end()
    run.cancel()
    assert stage.last.kinds[-1] == "run.ended"
    assert stage.last.shown_after_check(TEXT) == "done"


async def test_with_an_asynchronous_tool_still_running(stage):
    held = Held()
    run = await _start(stage, held.tool)
    await _to_end(run, held.runs, run.cancel)
    assert stage.last.tools == {"c1": "running"}
    assert stage.last.kinds[-2:] == ["cancel.requested", "run.ended"]
    assert stage.last.shown_at_eof() == "cancelled"


async def test_with_a_synchronous_tool_that_finishes_anyway(stage):
    """Its thread cannot be stopped: the run ends, and the call is shown as it stands."""
    loop = asyncio.get_running_loop()
    started, go_on, finished = asyncio.Event(), threading.Event(), threading.Event()

    @agents.function_tool
    def slow() -> str:
        loop.call_soon_threadsafe(started.set)
        go_on.wait(30)
        finished.set()
        return "late"

    run = await _start(stage, slow)
    await _to_end(run, started, run.cancel)
    before = list(stage.last.log)
    go_on.set()
    assert await asyncio.to_thread(finished.wait, 30)
    await asyncio.sleep(0.05)
    assert stage.last.log == before
    assert stage.last.tools == {"c1": "running"}
    assert stage.last.shown_at_eof() == "cancelled"


async def test_of_the_consumer_s_task_ends_the_run_cancelled(stage):
    """The SDK cancels the run when a consumer that waits is cancelled, by a time-out, say."""
    held = Held()
    run = await _start(stage, held.tool)
    consumer = asyncio.create_task(run.to_end())
    await held.runs.wait()
    consumer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consumer
    await asyncio.wait([run.result.run_loop_task])
    await asyncio.sleep(0)
    assert stage.last.kinds[-2:] == ["cancel.requested", "run.ended"]
    assert stage.last.shown_at_eof() == "cancelled"


async def test_of_the_run_s_task_by_somebody_else(stage):
    held = Held()
    run = await _start(stage, held.tool)
    await _to_end(run, held.runs, run.result.run_loop_task.cancel)
    assert stage.last.ended == ["cancelled"]


async def test_a_tool_that_fails_after_the_end_is_not_heard(scripted):
    """It answers its cancellation late, with an error of its own; the end stands."""
    started, over = asyncio.Event(), asyncio.Event()

    @agents.function_tool
    async def stubborn() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            over.set()
            raise ValueError("late") from None

    run = await _start(scripted, stubborn)
    await _to_end(run, started, run.cancel)
    before = list(scripted.last.log)
    await over.wait()
    await asyncio.sleep(0.01)
    assert scripted.last.log == before
    assert scripted.last.shown_at_eof() == "cancelled"
