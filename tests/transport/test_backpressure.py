"""The channel: bounded, in order, nothing dropped, nobody left waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine.transport import Channel, ChannelClosedError


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(main)


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


@settings(deadline=None)
@given(st.integers(1, 5), st.lists(st.integers(0, 3), max_size=30), st.integers(1, 3))
def test_everything_arrives_once_in_order_and_the_bound_holds(
    items_max: int, pauses: list[int], producers: int
) -> None:
    async def main() -> None:
        channel: Channel[tuple[int, int]] = Channel(items_max)
        received: list[tuple[int, int]] = []

        async def produce(name: int) -> None:
            for number, pause in enumerate(pauses):
                await channel.put((name, number))
                assert len(channel) <= items_max
                for _ in range(pause):
                    await asyncio.sleep(0)

        async def consume() -> None:
            async for item in channel:
                received.append(item)
                for _ in range(pauses[item[1]]):
                    await asyncio.sleep(0)

        consumer = asyncio.create_task(consume())
        await asyncio.gather(*map(produce, range(producers)))
        await channel.close()
        await consumer
        for name in range(producers):
            assert [n for who, n in received if who == name] == list(range(len(pauses)))
        assert len(received) == producers * len(pauses)

    run(main())


def test_a_full_channel_makes_its_producer_wait() -> None:
    async def main() -> None:
        channel: Channel[int] = Channel(1)
        await channel.put(1)
        second = asyncio.create_task(channel.put(2))
        await settled()
        assert not second.done()
        assert await channel.get() == 1
        await second
        assert await channel.get() == 2

    run(main())


def test_after_the_end_what_waits_is_received_and_nothing_more_is_taken() -> None:
    async def main() -> None:
        channel: Channel[int] = Channel(2)
        await channel.put(1)
        await channel.put(2)
        late = asyncio.create_task(channel.put(3))
        await settled()
        await channel.close()
        with pytest.raises(ChannelClosedError, match="not taken"):
            await late
        assert [item async for item in channel] == [1, 2]
        with pytest.raises(ChannelClosedError, match="everything was received"):
            await channel.get()

    run(main())


def test_a_consumer_that_leaves_is_told_to_the_producer_with_what_it_left() -> None:
    async def main() -> None:
        channel: Channel[int] = Channel(1)
        await channel.put(1)
        waiting = asyncio.create_task(channel.put(2))
        await settled()
        assert await channel.abandon() == [1]
        with pytest.raises(ChannelClosedError):
            await waiting

    run(main())


def test_cancelling_who_waits_neither_adds_nor_takes() -> None:
    async def main() -> None:
        channel: Channel[int] = Channel(1)
        getter = asyncio.create_task(channel.get())
        await settled()
        getter.cancel()
        await channel.put(1)
        putter = asyncio.create_task(channel.put(2))
        await settled()
        putter.cancel()
        await settled()
        await channel.close()
        assert [item async for item in channel] == [1]
        assert (getter.cancelled(), putter.cancelled()) == (True, True)

    run(main())


def test_a_channel_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="items_max: expected at least 1, got 0"):
        Channel(0)
