"""Put watchers behind a stream of events (contract §6)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TypeVar

Event = TypeVar("Event", bound=Mapping[str, object])


def watched(
    events: Iterable[Event], *watchers: Callable[[Event], object]
) -> Generator[Event, None, None]:
    """The same events; each watcher is called with an event before it is handed on.

    Lazy as the stream itself. Closing it, or a watcher that raises, closes the stream.
    """
    try:
        for event in events:
            for watcher in watchers:
                watcher(event)
            yield event
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
