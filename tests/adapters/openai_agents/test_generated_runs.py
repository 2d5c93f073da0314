"""Generated runs of the real SDK: tools that fail or wait, a host that cancels, leaves or pauses.

What must come out is said by the script itself, never by a second adapter.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import agents
from agents.testing import ScriptedModel, assistant_message, function_call
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Producer, Progress, acceptance
from doneness.machine.adapters.openai_agents import StreamedRun, run_streamed

TEXT = "合成巡检：已检查 2 项"


@agents.function_tool
async def good(steps: int) -> str:
    for _ in range(steps):
        await asyncio.sleep(0)
    return "good"


@agents.function_tool
async def bad(steps: int) -> str:
    for _ in range(steps):
        await asyncio.sleep(0)
    raise ValueError("bad")


@agents.function_tool(failure_error_function=None)
async def fatal(steps: int) -> str:
    for _ in range(steps):
        await asyncio.sleep(0)
    raise ValueError("fatal")


@agents.function_tool(needs_approval=True)
async def asks(steps: int) -> str:
    return f"asked {steps}"


TOOLS = [good, bad, fatal, asks]
LEFT_AS = {"good": "returned", "bad": "failed"}


@dataclass(frozen=True)
class Script:
    """Turns of calls (tool, steps), an answer or none, and what the host does at which event."""

    turns: list[list[tuple[str, int]]]
    answers: bool
    action: str | None
    at: int

    def ends(self) -> str:
        """How it ends if nobody interferes."""
        for turn in self.turns:
            names = {name for name, _ in turn}
            if "fatal" in names:
                return "failed"
            if "asks" in names:
                return "paused"
        return "succeeded" if self.answers else "failed"

    def model(self) -> ScriptedModel:
        steps: list[Any] = [
            [
                function_call(name, {"steps": steps}, call_id=f"c{number}-{index}")
                for index, (name, steps) in enumerate(turn)
            ]
            for number, turn in enumerate(self.turns)
        ]
        return ScriptedModel([*steps, [assistant_message(TEXT)]] if self.answers else steps)


ACTIONS = ["immediate", "after_turn", "leave", "leave and come back", "cancel the consumer"]
CALLS = st.tuples(st.sampled_from([*["good"] * 4, "bad", "fatal", "asks"]), st.integers(0, 4))
SCRIPTS = st.builds(
    Script,
    turns=st.lists(st.lists(CALLS, min_size=1, max_size=3), max_size=3),
    answers=st.sampled_from([True, True, True, False]),
    action=st.sampled_from([None, *ACTIONS]),
    at=st.integers(0, 30),
)


async def _consume(run: StreamedRun, script: Script, acted: list[str]) -> None:
    """Consume as the script says, and record the action if the run got so far."""
    number = 0
    async with aclosing(aiter(run)) as events:
        async for _ in events:
            if number == script.at and script.action is not None:
                acted.append(script.action)
                if script.action.startswith("leave"):
                    return
                if script.action == "cancel the consumer":
                    asyncio.current_task().cancel()
                else:
                    run.cancel(script.action)
            number += 1


@dataclass
class Played:
    log: list[str]
    progress: Progress
    producer: Producer
    acted: list[str]


async def _play(script: Script) -> Played:
    played = Played([], Progress("run-A"), Producer("run-A"), [])

    def take(envelope: Any) -> None:
        played.log.append(envelope["kind"])
        played.progress.feed(envelope)
        assert played.progress.status != "done"

    agent = agents.Agent(name="one", model=script.model(), tools=TOOLS)
    run = run_streamed(agent, "go", producer=played.producer, to=take)
    consumer = asyncio.create_task(_consume(run, script, played.acted))
    await asyncio.wait([consumer])
    await asyncio.wait([run.result.run_loop_task])
    await asyncio.sleep(0)
    if played.acted == ["leave"]:
        assert played.progress.terminal is None
    if played.acted == ["leave and come back"]:
        await asyncio.wait([asyncio.create_task(run.to_end())])
    if not consumer.cancelled():
        consumer.exception()  # is the SDK's own, and was seen
    return played


def _is_owner_s(ended: str | None, script: Script, played: Played) -> bool:
    match played.acted:
        case ["leave"]:
            return ended is None
        case ["immediate"] | ["after_turn"]:
            # Unless the exception, or the open approval, came first.
            return ended in {"cancelled", script.ends()} - {"succeeded"}
        case ["cancel the consumer"]:
            # Where it does not wait for the SDK, the SDK does not hear of it.
            return ended in {None, "cancelled", script.ends()} and (
                ended != "succeeded" or "cancel.requested" not in played.log
            )
    return ended == script.ends()


@settings(max_examples=150, deadline=None)
@given(script=SCRIPTS)
def test_whatever_happens_the_log_is_legal_and_the_end_is_the_owner_s(script):
    agents.set_tracing_disabled(True)
    played = asyncio.run(_play(script))
    progress = played.progress
    assert progress.issues == []
    assert "run.ended" not in played.log[:-1]
    ended = progress.terminal
    assert _is_owner_s(ended, script, played)
    if ended == "succeeded":
        assert {call: str(state) for call, state in progress.tools.items()} == {
            f"c{number}-{index}": LEFT_AS[name]
            for number, turn in enumerate(script.turns)
            for index, (name, _) in enumerate(turn)
        }
        assert progress.status == "checking"
        verdict = acceptance(progress, TEXT)
        progress.feed(played.producer.emit("app.checked", **verdict))
        assert progress.status == "done"
    else:
        progress.close_transport()
        shown = {"paused": "waiting", None: "unknown"}
        assert progress.status == shown.get(ended, ended)
