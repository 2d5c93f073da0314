"""Runs that end badly, or of which nobody knows how they ended: none shows done."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import agents
import openai
import pytest
from agents.testing import ModelStep, assistant_message, function_call
from openai.types.responses import (
    Response,
    ResponseCreatedEvent,
    ResponseErrorEvent,
    ResponseFailedEvent,
    ResponseIncompleteEvent,
    ResponseTextDeltaEvent,
)

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "合成巡检：已检查 2 项"


def _response(status: str, **more) -> Response:
    return Response(
        id="resp-1",
        created_at=0,
        model="scripted",
        object="response",
        output=[],
        tool_choice="none",
        tools=[],
        parallel_tool_calls=False,
        status=status,
        **more,
    )


def _delta(text: str, number: int) -> ResponseTextDeltaEvent:
    return ResponseTextDeltaEvent(
        type="response.output_text.delta",
        item_id="m1",
        output_index=0,
        content_index=0,
        delta=text,
        logprobs=[],
        sequence_number=number,
    )


CREATED = ResponseCreatedEvent(
    type="response.created", response=_response("in_progress"), sequence_number=0
)
BAD_ENDS = {
    "failed": (
        ResponseFailedEvent(
            type="response.failed",
            response=_response("failed", error={"code": "server_error", "message": "private"}),
            sequence_number=2,
        ),
        "response.failed: server_error",
    ),
    "incomplete": (
        ResponseIncompleteEvent(
            type="response.incomplete",
            response=_response("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            sequence_number=2,
        ),
        "response.incomplete: max_output_tokens",
    ),
    "error": (
        ResponseErrorEvent(
            type="error",
            code="rate_limit_exceeded",
            message="private",
            param=None,
            sequence_number=2,
        ),
        "error: rate_limit_exceeded",
    ),
}


@agents.function_tool
def weather(city: str) -> str:
    return f"sunny in {city}"


@pytest.mark.parametrize("how", ["failed", "incomplete"])
async def test_a_response_that_ends_badly(stage, how):
    event, reason = BAD_ENDS[how]
    model = await stage.model([ModelStep.stream([CREATED, _delta(TEXT, 1), event])])
    with pytest.raises(agents.ModelBehaviorError):
        await stage.start(agents.Agent(name="one", model=model)).to_end()
    assert stage.last.log[-2:] == [
        ("model.unresolved", {"response_id": "resp-1", "reason": reason}),
        ("run.ended", {"outcome": "failed", "final_text": None}),
    ]
    assert stage.last.statuses[-2:] == ["unknown", "failed"]
    assert stage.last.progress.text == TEXT
    assert stage.last.shown_at_eof() == "failed"


async def test_an_error_in_mid_stream(stage):
    event, reason = BAD_ENDS["error"]
    model = await stage.model([ModelStep.stream([CREATED, _delta(TEXT, 1), event])])
    with pytest.raises((agents.ModelBehaviorError, openai.APIError)):
        await stage.start(agents.Agent(name="one", model=model)).to_end()
    assert ("model.unresolved", {"response_id": None, "reason": reason}) in stage.last.log
    assert stage.last.ended == ["failed"]
    assert stage.last.shown_at_eof() == "failed"


async def test_a_socket_cut_in_mid_event(stage, cut):
    async def broken(_call):
        yield CREATED
        yield _delta("合成", 1)
        raise cut

    model = await stage.model([ModelStep.stream(broken)])
    with pytest.raises((cut, openai.APIConnectionError)):
        await stage.start(agents.Agent(name="one", model=model)).to_end()
    assert stage.last.kinds in (["text.delta", "run.ended"], ["run.ended"])
    assert stage.last.shown_at_eof() == "failed"


async def test_an_end_of_stream_without_an_end_of_response(stage):
    model = await stage.model([ModelStep.stream([CREATED, _delta(TEXT, 1)])])
    with pytest.raises(agents.ModelBehaviorError):
        await stage.start(agents.Agent(name="one", model=model)).to_end()
    assert stage.last.kinds in (["text.delta", "run.ended"], ["run.ended"])
    assert stage.last.ended == ["failed"]


async def test_a_model_that_raises(stage):
    model = await stage.model([ModelStep.raise_error(RuntimeError("no model"))])
    with pytest.raises((RuntimeError, openai.BadRequestError)):
        await stage.start(agents.Agent(name="one", model=model)).to_end()
    assert stage.last.kinds == ["run.ended"]
    assert stage.last.ended == ["failed"]


async def test_max_turns(stage):
    model = await stage.model([[function_call("weather", {"city": "A"}, call_id="c1")]])
    agent = agents.Agent(name="one", model=model, tools=[weather])
    with pytest.raises(agents.MaxTurnsExceeded):
        await stage.start(agent, max_turns=1).to_end()
    assert stage.last.tools == {"c1": "returned"}
    assert stage.last.ended == ["failed"]


async def test_max_turns_that_the_host_makes_a_result_of(stage):
    """An error handler of the host may answer for the run: that is the owner's final output."""
    model = await stage.model([[function_call("weather", {"city": "A"}, call_id="c1")]])
    agent = agents.Agent(name="one", model=model, tools=[weather])
    handlers = {"max_turns": lambda _data: "so far"}
    await stage.start(agent, max_turns=1, error_handlers=handlers).to_end()
    assert stage.last.ended == ["succeeded"]
    assert stage.last.shown_after_check(TEXT) == "rejected"


@pytest.mark.parametrize("when", ["early", "late"])
async def test_an_input_guardrail(stage, when):
    """A late one lets the run have a final output and no exception: only the iterator raises."""
    text_seen = asyncio.Event()

    @agents.input_guardrail(run_in_parallel=when == "late")
    async def guard(_context, _agent, _input):
        if when == "late":
            await text_seen.wait()
        return agents.GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    model = await stage.model([[assistant_message(TEXT)]])
    run = stage.start(agents.Agent(name="one", model=model, input_guardrails=[guard]))

    async def consume() -> None:
        async for event in run:
            if event.type == "run_item_stream_event":
                text_seen.set()

    with pytest.raises(agents.InputGuardrailTripwireTriggered):
        await consume()
    assert stage.last.progress.text == (TEXT if when == "late" else "")
    assert stage.last.ended == ["failed"]
    assert stage.last.shown_at_eof() == "failed"


async def test_an_output_guardrail(stage):
    @agents.output_guardrail
    async def guard(_context, _agent, _output):
        return agents.GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    model = await stage.model([[assistant_message(TEXT)]])
    run = stage.start(agents.Agent(name="one", model=model, output_guardrails=[guard]))
    with pytest.raises(agents.OutputGuardrailTripwireTriggered):
        await run.to_end()
    assert stage.last.progress.text == TEXT
    assert stage.last.ended == ["failed"]


async def test_a_tool_whose_error_ends_the_run(stage):
    @agents.function_tool(failure_error_function=None)
    def broken() -> str:
        raise ValueError("no such file")

    model = await stage.model([[function_call("broken", {}, call_id="c1")]])
    with pytest.raises(Exception, match="no such file"):
        await stage.start(agents.Agent(name="one", model=model, tools=[broken])).to_end()
    assert stage.last.tools == {"c1": "failed"}
    assert stage.last.ended == ["failed"]


async def test_a_tool_that_is_not_there(stage):
    model = await stage.model([[function_call("nothing", {}, call_id="c1")]])
    with pytest.raises(agents.ModelBehaviorError):
        await stage.start(agents.Agent(name="one", model=model, tools=[weather])).to_end()
    assert stage.last.ended == ["failed"]


async def test_a_consumer_that_breaks_off(stage):
    """The run goes on without us; nothing is concluded, and nothing is guessed later."""
    model = await stage.model(
        [[function_call("weather", {"city": "A"}, call_id="c1")], [assistant_message(TEXT)]]
    )
    run = stage.start(agents.Agent(name="one", model=model, tools=[weather]))
    async with aclosing(aiter(run)) as events:
        async for event in events:
            if event.type == "run_item_stream_event":
                break
    assert run.result.final_output == TEXT
    assert stage.last.ended == []
    assert stage.last.progress.status == "running"
    assert stage.last.shown_at_eof() == "unknown"


async def test_a_second_pass(stage):
    agent = agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    run = stage.start(agent)
    await run.to_end()
    log = list(stage.last.log)
    assert [event async for event in run] == []
    assert stage.last.log == log
    assert stage.last.shown_after_check(TEXT) == "done"


async def test_a_second_pass_after_a_bad_end(stage):
    model = await stage.model([ModelStep.raise_error(RuntimeError("no model"))])
    run = stage.start(agents.Agent(name="one", model=model))
    for _ in range(2):
        with pytest.raises((RuntimeError, openai.BadRequestError)):
            await run.to_end()
    assert stage.last.ended == ["failed"]


async def test_a_stream_that_somebody_else_has_read(stage):
    """What the owner still knows is the end; of the tools the hooks have seen enough."""
    model = await stage.model(
        [[function_call("weather", {"city": "A"}, call_id="c1")], [assistant_message(TEXT)]]
    )
    run = stage.start(agents.Agent(name="one", model=model, tools=[weather]))
    async for _ in run.result.stream_events():
        pass
    await run.to_end()
    assert stage.last.tools == {"c1": "returned"}
    assert stage.last.progress.text == ""
    assert stage.last.shown_after_check(TEXT) == "done"


async def test_a_model_call_that_the_sdk_tries_again(stage):
    """Where it is told to; so a run may still end well after a call that failed."""
    policy = agents.ModelRetrySettings(max_retries=1, policy=lambda _context: True)
    model = await stage.model(
        [ModelStep.raise_error(RuntimeError("busy")), [assistant_message(TEXT)]]
    )
    settings = agents.ModelSettings(retry=policy)
    run = stage.start(agents.Agent(name="one", model=model, model_settings=settings))
    await run.to_end()
    assert stage.last.shown_after_check(TEXT) == "done"


@pytest.mark.parametrize("final_output", [None, TEXT])
async def test_a_run_loop_that_failed_though_the_iterator_did_not_say_so(stage, final_output):
    """The SDK documents such silent failures; not even a final output outweighs one."""
    model = await stage.model([ModelStep.raise_error(RuntimeError("no model"))])
    run = stage.start(agents.Agent(name="one", model=model))

    async def silent():
        await asyncio.wait([run.result.run_loop_task])
        run.result.final_output = final_output
        run.result.is_complete = True
        return
        yield

    run.result.stream_events = silent
    await run.to_end()
    assert run.result.run_loop_exception is not None
    assert stage.last.ended == ["failed"]


async def test_an_iterator_that_ends_while_the_run_is_not_complete(stage):
    run = stage.start(
        agents.Agent(name="one", model=await stage.model([[assistant_message(TEXT)]]))
    )

    async def short():
        run.result.final_output = TEXT
        return
        yield

    run.result.stream_events = short
    await run.to_end()
    assert run.result.is_complete is False
    assert stage.last.ended == []
    assert stage.last.shown_at_eof() == "unknown"
    await asyncio.wait([run.result.run_loop_task])
