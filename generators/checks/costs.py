"""What a text fragment costs: function calls and bytes, counted, not timed.

A run is nearly all fragments. The short way through the reducer must be taken by every one of
them that it is meant for; an answer that is right but took the long way is a fault too, and no
status shows it.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.checks.counting import calls_of
from doneness.generators.checks.telling import RUN, text_event

EVENTS: Final = 64
BEGINNING: Final = 4
"""Events of a run that are not counted: how its ids go on is learnt from them."""

CALLS_MAX: Final = 2
"""Python functions entered for a fragment: the one that is fed, and one more."""

LOOK_COUNTED: Final = "free ids that look counted"
"""One function more has a closer look at them."""

BYTES_MAX: Final = 24
"""Bytes kept for a fragment that its producer numbered; the text itself belongs to the caller."""

_SORTS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "numbered": text_event,
    "empty": lambda seq: text_event(seq, ""),
    "non-ASCII": lambda seq: text_event(seq, "合"),
    "free ids": lambda seq: text_event(seq, id=f"free-{seq}-"),
    "free non-ASCII ids": lambda seq: text_event(seq, id=f"合-{seq}-"),
    "free ids behind counted ones": lambda seq: (
        text_event(seq) | ({"id": f"{seq}"} if seq > 3 else {})
    ),
    LOOK_COUNTED: lambda seq: text_event(seq, id=f"{RUN}:{seq + (seq > 3)}"),
    "its own run object": lambda seq: text_event(seq, run=f"{RUN[:1]}{RUN[1:]}"),
}


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """Sorts of fragments that cost too much."""
    for name, make in _SORTS.items():
        events = [make(seq) for seq in range(1, EVENTS + 1)]
        events[1] |= {"kind": "cancel.requested", "data": {}}
        lines = [json.dumps(event).encode() for event in events]
        for way, given in (("feed", events), ("feed_json", lines)):
            calls = _calls(
                machine, way, given, CALLS_MAX + (way == "feed_json") + (name == LOOK_COUNTED)
            )
            if calls:
                yield f"{name}, {way}: {calls}"
    for name, number in _NUMBERINGS.items():
        size = _bytes_kept(machine, number)
        if size > BYTES_MAX:
            yield f"{name}: {size:.0f} bytes a fragment are kept"


# How the first to the last are named; each id is written out once, and belongs to the caller.
_NUMBERINGS: Final[dict[str, Callable[[int], str]]] = {
    "numbered": lambda seq: f"{RUN}:{seq}",
    "numbered from 0": lambda seq: f"e{seq - 1}",
    "numbered from 96": lambda seq: f"x-{seq + 95}",
    "numbered behind a zero": lambda seq: f"x-0{seq + 95}",
    "numbers alone": str,
}


def _calls(machine: SimpleNamespace, way: str, given: list[Any], calls_max: int) -> str | None:
    progress = machine.reducer.Progress(RUN)
    feed = getattr(progress, way)
    for other in given[:BEGINNING]:
        feed(other)
    for number, one in enumerate(given[BEGINNING:], BEGINNING + 1):
        counted = calls_of(feed, one)
        if counted > calls_max:
            return f"{counted} calls for event {number}"
    return None


def _bytes_kept(machine: SimpleNamespace, number: Callable[[int], str]) -> float:
    progress = machine.reducer.Progress(RUN)
    events = [text_event(seq, id=number(seq)) for seq in range(1, 20 * EVENTS + 1)]
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for event in events:
            progress.feed(event)
        return (tracemalloc.get_traced_memory()[0] - before) / len(events)
    finally:
        tracemalloc.stop()
