"""Viewers are positions in one list: nothing lost, twice or out of order, and nothing invented."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from doneness.machine.framing import Event, SSEDecoder
from doneness.machine.producer import Producer
from doneness.machine.watchers.log import LogError
from doneness.machine.web.hub import HEARTBEAT, RETRY, Hub, RunStream


async def decoded(frames: AsyncGenerator[bytes, None]) -> list[Event]:
    decoder = SSEDecoder()
    return [event async for chunk in frames for event in decoder.feed(chunk)]


def numbers(events: list[Event]) -> list[str]:
    return [event.id for event in events]


def test_a_position_says_where_to_go_on(tmp_path: Path) -> None:
    """From the start, from the middle, from the end, and from beyond: another log's position."""

    async def scenario() -> None:
        stream = RunStream("r", tmp_path)
        producer = Producer("r")
        stream.publish({"type": "opening", "title": "行\n末"})
        for _ in range(600):
            stream.publish(producer.emit("text.delta", text="合\r\n\u2028"))
        stream.end()
        for seen, first in ((0, 1), (1, 2), (300, 301), (601, 602), (602, 1), (-1, 1)):
            events = await decoded(stream.frames(seen))
            assert events[-1].event == "end"
            assert numbers(events[:-1]) == [str(n) for n in range(first, 602)]
            assert {event.event for event in events[1:-1]} <= {"message"}
        [opening, *_] = await decoded(stream.frames(0))
        assert (opening.event, json.loads(opening.data)["title"]) == ("about", "行\n末")

    asyncio.run(scenario())


def test_it_is_in_the_log_before_anybody_sees_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        stream = RunStream("r", tmp_path)
        frames = stream.frames()
        assert await anext(frames) == RETRY
        stream.publish(Producer("r").emit("text.delta", text="x"))
        with pytest.raises(ValueError, match="JSON"):
            stream.publish(Producer("r").emit("text.delta", text=float("nan")))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # as a full disk would
        try:
            with pytest.raises(LogError):
                stream.publish(Producer("r").emit("text.delta", text="x" * 2000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (tmp_path / "r.jsonl").read_bytes().count(b"\n") == 1
        assert (await anext(frames)).startswith(b"id: 1\n")
        assert len(stream) == 1
        await frames.aclose()

    asyncio.run(scenario())


def test_a_restart_makes_the_same_list_again(tmp_path: Path) -> None:
    """Envelopes and what is about the run lie in two files; their order is kept."""

    async def scenario() -> None:
        hub = Hub(tmp_path)
        stream = hub.open("r")
        producer = Producer("r")
        for step in "aeaaeeaea":
            stream.publish(
                producer.emit("text.delta", text=step) if step == "e" else {"type": step}
            )
        before = [event for event in (await frames_now(stream)) if event.event != "end"]
        assert [event.event for event in before].count("about") == 5
        hub.leave()
        again = Hub(tmp_path)
        again.load()
        assert list(again.streams) == ["r"]
        assert (await frames_now(again.streams["r"]))[:-1] == before

    asyncio.run(scenario())


async def frames_now(stream: RunStream) -> list[Event]:
    """What a viewer is sent without waiting."""
    decoder, got = SSEDecoder(), []
    async for chunk in stream.frames(heartbeat_seconds=0.001):
        if chunk == HEARTBEAT:
            break
        got += decoder.feed(chunk)
    return got


def test_silence_is_filled_with_comments_and_a_viewer_who_leaves_is_forgotten(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        stream = RunStream("r", tmp_path)
        frames = stream.frames(heartbeat_seconds=0.001)
        assert [await anext(frames) for _ in range(3)] == [RETRY, HEARTBEAT, HEARTBEAT]
        assert SSEDecoder().feed(RETRY + HEARTBEAT) == []
        assert stream.viewers == 1
        await frames.aclose()
        assert stream.viewers == 0

    asyncio.run(scenario())


def test_a_server_that_stops_says_nothing_about_the_run(tmp_path: Path) -> None:
    """Viewers get no `end`: they ask again, and a new server knows what the log holds."""

    async def scenario() -> None:
        hub = Hub(tmp_path)
        stream = hub.open("r")
        stream.publish(Producer("r").emit("text.delta", text="x"))
        with pytest.raises(ValueError, match="already"):
            hub.open("r")
        with pytest.raises(LogError):
            Hub(tmp_path).load(open_runs=frozenset({"r"}))  # the first still writes it
        hub.leave()
        assert numbers(await decoded(stream.frames())) == ["1"]
        with (tmp_path / "r.jsonl").open("ab") as file:
            file.write(b'{"run": "r", "id"')  # the torn tail that a kill leaves
        again = Hub(tmp_path)
        again.load()
        assert again.streams["r"].progress.status == "unknown"
        events = await decoded(again.streams["r"].frames(1))
        assert [(event.id, event.event) for event in events] == [("1", "end")]
        with pytest.raises(ValueError, match="nothing may follow"):
            again.streams["r"].publish({"type": "late"})

    asyncio.run(scenario())
