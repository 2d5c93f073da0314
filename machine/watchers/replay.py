"""Replay of recorded events, at their own speed or at once (contract §6).

What comes out is what went in, so every watcher can be put behind it: a log that is replayed
offline looks like the run it was taken from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

Event = TypeVar("Event", bound=Mapping[str, object])

PAUSE_SECONDS_MAX: Final = 60.0
"""Bound on one pause: a clock that was set, or a night between two runs, is not replayed."""


def replay(
    events: Iterable[Event],
    *,
    speed: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Event]:
    """The same events, with the pauses that their `ts` show, divided by `speed`.

    Args:
        events: In the order of the log; `ts` is in seconds.
        speed: 1 is the log's own speed, 2 twice as fast; None: at once.
        sleep: What waits.
    """
    if speed is not None and not speed > 0:
        raise ValueError(f"speed: expected a number above 0, got {speed}")
    before: float | None = None
    for event in events:
        ts = event.get("ts")
        if speed is not None and isinstance(ts, int | float):
            if before is not None and ts > before:
                sleep(min((ts - before) / speed, PAUSE_SECONDS_MAX))
            before = float(ts)
        yield event
