"""The host: each run ends as its evidence says, and people's decisions are carried out once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from doneness.machine.agent.scripted_answers import Call, answer, never_ending
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.tools import Tools
from doneness.machine.watchers.log import read_log
from doneness.machine.web.demo import EXPECTED, Demo
from doneness.machine.web.host import Host, NoSuchRunError, NotPossibleError, Plan
from doneness.machine.web.hub import Hub


def on(demo: Demo, scenario: Callable[[Demo], Awaitable[None]]) -> None:
    async def run() -> None:
        with demo:
            await scenario(demo)
            await demo.host.close()
            demo.hub.leave()

    asyncio.run(run())


def test_the_five_runs_end_in_their_five_ways(tmp_path: Path) -> None:
    async def scenario(demo: Demo) -> None:
        runs = {name: demo.host.start(name) for name in demo.plans}
        await demo.host.settled()
        streams = {name: demo.hub.streams[run] for name, run in runs.items()}
        assert {name: stream.progress.status for name, stream in streams.items()} == EXPECTED
        assert list(streams["cancelled"].progress.tools.values()) == ["running"]
        assert list(streams["rejected"].progress.tools.values()) == ["failed", "returned"]
        assert not any(stream.progress.issues for stream in streams.values())
        assert [name for name, stream in streams.items() if not stream.ended] == ["waits"]

    on(Demo(tmp_path, step_seconds=0), scenario)


def test_an_approval_is_for_one_call_and_counts_once(tmp_path: Path) -> None:
    async def scenario(demo: Demo) -> None:
        run = demo.host.start("waits")
        with pytest.raises(NotPossibleError, match="does not wait"):
            demo.host.approve(run)
        await demo.host.settled()
        following = demo.host.approve(run)
        for decide in (demo.host.approve, demo.host.reject):
            with pytest.raises(NotPossibleError, match="does not wait"):
                decide(run)
        with pytest.raises(NotPossibleError, match="not going on"):
            demo.host.cancel(run)
        with pytest.raises(NoSuchRunError):
            demo.host.cancel("none")
        await demo.host.settled()
        assert demo.hub.streams[following].progress.status == "done"
        assert demo.hub.streams[run].progress.status == "waiting"
        opened, first = (demo.hub.streams[each].opening for each in (following, run))
        assert opened["task"] == first["task"]
        assert opened["resumes"] == run

    on(Demo(tmp_path, step_seconds=0), scenario)


def test_another_call_than_the_approved_one_needs_an_approval_of_its_own(tmp_path: Path) -> None:
    made: list[int] = []

    def pay(amount: int) -> str:
        """Pay."""
        made.append(amount)
        return "paid"

    script = [
        answer(Call("pay", {"amount": 1})),
        answer(Call("pay", {"amount": 1}), Call("pay", {"amount": 1})),
        answer(Call("pay", {"amount": 2})),
    ]

    async def scenario() -> None:
        with ScriptedServer(script) as server:
            endpoint = server.endpoint(retries_max=0)
            plan = Plan({"en": "t", "zh": "t"}, "go", endpoint, frozenset({"pay"}))
            host = Host(Hub(tmp_path), {"p": plan}, Tools(pay), lambda _events: True)
            run = host.start("p")
            await host.settled()
            assert made == []
            second = host.approve(run)
            await host.settled()
            assert made == [1]  # the same call again is another call
            third = host.approve(second)
            await host.settled()
            assert made == [1]  # the model asked for another amount than was approved
            assert host.actions(third) == ("approve", "reject")

    asyncio.run(scenario())


def test_a_rejection_runs_nothing_and_is_on_record(tmp_path: Path) -> None:
    async def scenario(demo: Demo) -> None:
        run = demo.host.start("waits")
        await demo.host.settled()
        demo.host.reject(run)
        assert list(demo.hub.streams) == [run]
        assert demo.hub.streams[run].ended
        *_, last = read_log(demo.hub.folder / f"{run}.about.jsonl")
        assert (last["type"], last["approved"], last["run"]) == ("decision", False, None)

    on(Demo(tmp_path, step_seconds=0), scenario)


def test_a_restarted_host_still_waits_and_does_not_know_how_the_others_ended(
    tmp_path: Path,
) -> None:
    started: dict[str, str] = {}

    async def before(demo: Demo) -> None:
        started["waits"] = demo.host.start("waits")
        await demo.host.settled()
        started["cancelled"] = demo.host.start("cancelled")
        while not demo.hub.streams[started["cancelled"]].progress.tools:
            await asyncio.sleep(0.01)

    async def after(demo: Demo) -> None:
        assert list(demo.hub.streams) == list(started.values())
        assert demo.hub.streams[started["cancelled"]].progress.status == "unknown"
        assert demo.host.actions(started["cancelled"]) == ()
        following = demo.host.approve(started["waits"])
        await demo.host.settled()
        assert demo.hub.streams[following].progress.status == "done"

    on(Demo(tmp_path, step_seconds=0.05), before)
    on(Demo(tmp_path, step_seconds=0), after)


def test_a_cancel_closes_the_connection_to_the_model(tmp_path: Path) -> None:
    """The request is on record before it is carried out, the confirmation only after."""

    async def scenario() -> None:
        with ScriptedServer([never_ending(answer("a", "b", "c"))]) as server:
            plan = Plan({"en": "t", "zh": "t"}, "go", server.endpoint())
            hub = Hub(tmp_path)
            host = Host(hub, {"p": plan}, Tools(), lambda _events: True)
            run = host.start("p")
            progress = hub.streams[run].progress
            while progress.text != "abc":
                await asyncio.sleep(0.01)
            assert host.actions(run) == ("cancel",)
            host.cancel(run)
            assert progress.status == "cancelling"
            with pytest.raises(NotPossibleError):
                host.cancel(run)
            await host.settled()
            assert progress.status == "cancelled"
            assert await asyncio.to_thread(server.exchanges[0].client_left.wait, 30)

    asyncio.run(scenario())
