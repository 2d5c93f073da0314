"""What the adapter for the OpenAI Agents SDK adds to the SDK's own cost per event, in one run.

The SDK runs its scripted model, bare and watched, in turns. Both figures are shares of the SDK's
own cost per event, in time of the processor: *fed* is the adapter alone, fed again with the
events of such a run (the least of all rounds); *watched* is what a watched run takes longer in
all, hooks included (the median of the rounds, noisy: a small difference of large numbers). Run
with `make bench`.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable
from statistics import median
from typing import Any

import agents
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import Response, ResponseCompletedEvent, ResponseTextDeltaEvent

from doneness.machine import Producer
from doneness.machine.adapters.openai_agents import EventAdapter, run_streamed

TURNS = 10
DELTAS = 5_000
ROUNDS = 15


@agents.function_tool
async def look(item: int) -> str:
    """A tool that costs nothing."""
    return f"item {item}"


def turns() -> ScriptedModel:
    """Turns with a tool call each, then an answer: the events that the model makes itself."""
    calls = [[function_call("look", {"item": n}, call_id=f"c{n}")] for n in range(TURNS)]
    return ScriptedModel([*calls, [assistant_message("two items checked")]])


def deltas(*, apart: bool) -> Callable[[], ScriptedModel]:
    """One answer in many fragments, made beforehand; `apart`, each arrives by itself."""
    message = assistant_message("word " * DELTAS)
    events: list[Any] = [
        ResponseTextDeltaEvent(
            type="response.output_text.delta",
            item_id="m1",
            output_index=0,
            content_index=0,
            delta="word ",
            logprobs=[],
            sequence_number=number,
        )
        for number in range(DELTAS)
    ]
    response = Response(
        id="resp-1",
        created_at=0,
        model="scripted",
        object="response",
        output=[message],
        tool_choice="none",
        tools=[],
        parallel_tool_calls=False,
        status="completed",
    )
    events.append(
        ResponseCompletedEvent(type="response.completed", response=response, sequence_number=DELTAS)
    )

    async def stream(_call: Any) -> AsyncIterator[Any]:
        for event in events:
            if apart:
                await asyncio.sleep(0)
            yield event

    return lambda: ScriptedModel([ModelStep.stream(stream)])


def ignore(_envelope: object) -> None:
    """A consumer that costs nothing: the reducer has a benchmark of its own."""


async def bare(agent: agents.Agent[Any]) -> list[Any]:
    """The SDK alone; returns the events."""
    result = agents.Runner.run_streamed(agent, "go", max_turns=None)
    return [event async for event in result.stream_events()]


async def watched(agent: agents.Agent[Any]) -> None:
    """The same, watched to its end."""
    run = run_streamed(agent, "go", producer=Producer("run-A"), to=ignore, max_turns=None)
    await run.to_end()


async def measure(make: Callable[[], ScriptedModel]) -> tuple[float, float, float]:
    """Microseconds of the SDK per event, and the two shares."""
    alone, fed, ratios = [], [], []
    events: list[Any] = []
    for _ in range(ROUNDS):
        spent = []
        for run in (bare, watched):
            agent = agents.Agent(name="one", model=make(), tools=[look])
            gc.collect()
            started = time.process_time()
            events = await run(agent) or events
            spent.append(time.process_time() - started)
        alone.append(spent[0])
        ratios.append(spent[1] / spent[0])
        adapter = EventAdapter(Producer("run-A"), ignore)
        gc.collect()
        started = time.process_time()
        for event in events:
            adapter.feed(event)
        fed.append(time.process_time() - started)
    return min(alone) / len(events) * 1e6, min(fed) / min(alone), median(ratios) - 1


async def main() -> None:
    """Print all figures."""
    agents.set_tracing_disabled(True)
    print("adapter for openai-agents, share of the SDK's own cost per event (wanted: at most 3%)")
    print(f"  {'':34} {'SDK, µs':>8} {'fed':>8} {'watched':>8}")
    for label, make in (
        (f"{TURNS} turns with a tool, then text", turns),
        (f"{DELTAS:,} fragments, one by one", deltas(apart=True)),
        (f"{DELTAS:,} fragments, all at once", deltas(apart=False)),
    ):
        cost, fed, extra = await measure(make)
        print(f"  {label:34} {cost:8.1f} {fed:8.2%} {extra:8.2%}")


if __name__ == "__main__":
    asyncio.run(main())
