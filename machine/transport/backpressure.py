"""A bounded channel between coroutines that never drops (contract §7).

A full channel makes its producer wait; that is all backpressure is. Order is kept, everything put
before the end is received before the end, and nobody waits for somebody who has gone.
"""

from __future__ import annotations

from asyncio import Condition
from collections import deque
from typing import Final, Generic, Self, TypeVar

ITEMS_MAX: Final = 256
"""Enough to smooth bursts; a slow consumer slows its producer soon."""

_T = TypeVar("_T")


class ChannelClosedError(Exception):
    """The channel is closed: an item that was put was not taken, or no more will come."""


class Channel(Generic[_T]):
    """A queue of at most `items_max` items, for one event loop.

    Cancelling `put` or `get` while it waits neither adds nor takes an item.

    Args:
        items_max: The most items that wait at once, at least 1.
    """

    __slots__ = ("_changed", "_closed", "_items", "_items_max")

    def __init__(self, items_max: int = ITEMS_MAX) -> None:
        if items_max < 1:
            raise ValueError(f"items_max: expected at least 1, got {items_max}")
        self._items_max = items_max
        self._items: deque[_T] = deque()
        self._closed = False
        self._changed = Condition()

    def __len__(self) -> int:
        """How many items wait."""
        return len(self._items)

    async def put(self, item: _T) -> None:
        """Add an item, as soon as there is room.

        Raises:
            ChannelClosedError: the channel is closed, or was while this waited.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._closed or len(self) < self._items_max)
            if self._closed:
                raise ChannelClosedError("put: the channel is closed; the item was not taken")
            self._items.append(item)
            self._changed.notify_all()

    async def get(self) -> _T:
        """The next item, as soon as there is one.

        Raises:
            ChannelClosedError: the channel is closed and everything was received.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._closed or bool(self._items))
            if not self._items:
                raise ChannelClosedError("get: the channel is closed; everything was received")
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    async def close(self) -> None:
        """The producer's end: nothing more is taken; what waits can still be received."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    async def abandon(self) -> list[_T]:
        """The consumer leaves: waiting producers are told; returns what nobody received."""
        async with self._changed:
            self._closed = True
            left = list(self._items)
            self._items.clear()
            self._changed.notify_all()
            return left

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _T:
        try:
            return await self.get()
        except ChannelClosedError:
            raise StopAsyncIteration from None
