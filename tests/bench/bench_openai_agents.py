"""What the adapter for the OpenAI Agents SDK adds to the SDK's own cost per event, in one run.

The SDK runs its scripted model, bare and watched, in turns. Every share is one of the SDK's own
cost per event, in time of the processor. *fed* is the adapter alone, fed again with the events of
such a run (the least of all rounds). *floor* is what no adapter can do without: it reads the text
of each fragment and hands on an envelope whose id and number stand fixed. The others are what a
watched run takes longer in all, hooks included (the median of the rounds, noisy: a small difference
of large numbers): *to_end*, `async for`, and with the reducer fed as well. Run with `make bench`.
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

from doneness.machine import Producer, Progress
from doneness.machine.adapters.openai_agents import EventAdapter, StreamedRun, run_streamed

TURNS = 10
DELTAS = 1_500
ROUNDS = 9

Make = Callable[[], ScriptedModel]


@agents.function_tool
async def look(item: int) -> str:
    """A tool that costs nothing."""
    return f"item {item}"


def turns() -> ScriptedModel:
    """Turns with a tool call each, then an answer: the events that the model makes itself."""
    calls = [[function_call("look", {"item": n}, call_id=f"c{n}")] for n in range(TURNS)]
    return ScriptedModel([*calls, [assistant_message("two items checked")]])


def answers() -> ScriptedModel:
    """One turn without a tool, as the model streams it by itself."""
    return ScriptedModel([[assistant_message("two items checked")]])


def delta(number: int, letters: int) -> ResponseTextDeltaEvent:
    """A fragment of that many letters."""
    return ResponseTextDeltaEvent(
        type="response.output_text.delta",
        item_id="m1",
        output_index=0,
        content_index=0,
        delta="w" * letters,
        logprobs=[],
        sequence_number=number,
    )


def deltas(*, letters: int = 5, apart: bool = True, made_before: bool = False) -> Make:
    """One answer in many fragments; `apart`, each arrives by itself."""
    before = [delta(number, letters) for number in range(DELTAS if made_before else 0)]
    response = Response(
        id="resp-1",
        created_at=0,
        model="scripted",
        object="response",
        output=[assistant_message("w" * letters * DELTAS)],
        tool_choice="none",
        tools=[],
        parallel_tool_calls=False,
        status="completed",
    )
    end = ResponseCompletedEvent(
        type="response.completed", response=response, sequence_number=DELTAS
    )

    async def stream(_call: Any) -> AsyncIterator[Any]:
        for event in before or (delta(number, letters) for number in range(DELTAS)):
            if apart:
                await asyncio.sleep(0)
            yield event
        yield end

    return lambda: ScriptedModel([ModelStep.stream(stream)])


def ignore(_envelope: object) -> None:
    """A consumer that costs nothing: the reducer has a benchmark of its own."""


def watch(agent: agents.Agent[Any], to: Callable[[Any], object] = ignore) -> StreamedRun:
    """A run of the agent, watched."""
    return run_streamed(agent, "go", producer=Producer("run-A"), to=to, max_turns=None)


async def bare(agent: agents.Agent[Any]) -> None:
    """The SDK alone."""
    async for _ in agents.Runner.run_streamed(agent, "go", max_turns=None).stream_events():
        pass


async def to_end(agent: agents.Agent[Any]) -> None:
    """Watched to its end, without a look at the events."""
    await watch(agent).to_end()


async def iterated(agent: agents.Agent[Any]) -> None:
    """Watched, and each event looked at."""
    async for _ in watch(agent):
        pass


async def reduced(agent: agents.Agent[Any]) -> None:
    """Watched, and each envelope fed to the reducer."""
    await watch(agent, Progress("run-A").feed).to_end()


def hand_on(event: Any) -> None:
    """The text of a fragment, in an envelope that is the same for all but for its text."""
    if type(event) is agents.RawResponsesStreamEvent:
        raw = event.data
        if type(raw) is ResponseTextDeltaEvent:
            data = {"text": raw.delta}
            ignore({"run": "run-A", "id": "run-A:1", "seq": 1, "kind": "text.delta", "data": data})


def fed_to(feeds: list[Callable[[Any], None]], events: list[Any]) -> float:
    """Seconds of the processor for feeding all events to each, by run."""
    gc.collect()
    started = time.process_time()
    for feed in feeds:
        for event in events:
            feed(event)
    return (time.process_time() - started) / len(feeds)


async def measure(make: Make) -> tuple[float, float, float, list[float]]:
    """Microseconds of the SDK per event; the shares of `fed`, `floor` and the watched runs."""

    def agent() -> agents.Agent[Any]:
        return agents.Agent(name="one", model=make(), tools=[look])

    result = agents.Runner.run_streamed(agent(), "go", max_turns=None)
    events = [event async for event in result.stream_events()]
    repeats = max(1, 200 // len(events))  # of a short run, several count as one
    spent: list[list[float]] = []
    fed, floor = [], []
    for _ in range(ROUNDS):
        times = []
        for run in (bare, to_end, iterated, reduced):
            watched = [agent() for _ in range(repeats)]
            gc.collect()
            started = time.process_time()
            for each in watched:
                await run(each)
            times.append((time.process_time() - started) / repeats)
        spent.append(times)
        feeds = [EventAdapter(Producer("run-A"), ignore).feed for _ in range(repeats)]
        fed.append(fed_to(feeds, events))
        floor.append(fed_to([hand_on] * repeats, events))
    alone = min(times[0] for times in spent)
    shares = [median(times[run] / times[0] for times in spent) - 1 for run in (1, 2, 3)]
    return alone / len(events) * 1e6, min(fed) / alone, min(floor) / alone, shares


async def main() -> None:
    """Print all figures."""
    agents.set_tracing_disabled(True)
    print("adapter for openai-agents, share of the SDK's own cost per event (wanted: at most 3%)")
    heads = "".join(f" {head:>10}" for head in ("fed", "floor", "to_end", "async for", "+ reducer"))
    print(f"  {'':40} {'SDK, µs':>8}{heads}")
    cases: list[tuple[str, Make]] = [
        ("text, as the scripted model streams it", answers),
        (f"{TURNS} turns with a tool, then text", turns),
        *(
            (f"{DELTAS:,} fragments of {letters}, one by one", deltas(letters=letters))
            for letters in (1, 5, 50)
        ),
        (f"{DELTAS:,} fragments of 5, all at once", deltas(apart=False)),
        ("  made before, one by one", deltas(made_before=True)),
        ("  made before, all at once", deltas(apart=False, made_before=True)),
    ]
    for label, make in cases:
        cost, *parts, shares = await measure(make)
        print(
            f"  {label:40} {cost:8.1f}" + "".join(f" {share:10.2%}" for share in (*parts, *shares))
        )


if __name__ == "__main__":
    asyncio.run(main())
