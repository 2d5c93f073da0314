"""Where the time went: in the model, and in each tool (contract §6).

Read from the events' own `ts`, so a replayed log gives the same split as the run did. A model
call lasts from `iteration_start` to the first event that is no token; what a consumer does
between two events counts as well, since the loop is lazy. What was never closed is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from doneness.machine.visible import visible

MODEL: Final = None
"""Stands for the model where the name of a tool could stand."""


class Span(NamedTuple):
    """A stretch of time that an event closed: the tool, or MODEL, and how long."""

    part: str | None
    seconds: float


class Stopwatch:
    """Closes spans as events come."""

    def __init__(self) -> None:
        self._asked: float | None = None
        self._started: dict[str, float] = {}

    def feed(self, event: Mapping[str, object]) -> Span | None:
        """Take one event; the span that it closed, if any. One without a `ts` closes nothing."""
        kind, ts = event.get("type"), event.get("ts")
        if not isinstance(ts, int | float) or kind == "token":
            return None
        closed = None
        if self._asked is not None:
            closed = Span(MODEL, max(0.0, ts - self._asked))  # a clock may be set back
            self._asked = None
        if kind == "iteration_start":
            self._asked = ts
        elif kind == "tool_start":
            self._started[str(event.get("call_id"))] = ts
        elif kind == "tool_result":
            started = self._started.pop(str(event.get("call_id")), None)
            if started is not None:
                closed = Span(str(event.get("name", "")), max(0.0, ts - started))
        return closed


class TimeSplit:
    """Seconds in the model and in each tool; read at the end.

    Attributes:
        model_seconds: In all model calls.
        tool_seconds: By the name of the tool.
    """

    def __init__(self) -> None:
        self.model_seconds = 0.0
        self.tool_seconds: dict[str, float] = {}
        self._watch = Stopwatch()

    def feed(self, event: Mapping[str, object]) -> None:
        """Take one event."""
        span = self._watch.feed(event)
        if span is None:
            return
        if span.part is MODEL:
            self.model_seconds += span.seconds
        else:
            so_far = self.tool_seconds.get(span.part, 0.0)
            self.tool_seconds[span.part] = so_far + span.seconds

    def lines(self) -> list[str]:
        """The split, for people."""
        tools = self.tool_seconds.items()
        return [
            f"in the model: {self.model_seconds:.2f} s",
            *(f"in {visible(name, 64)}: {seconds:.2f} s" for name, seconds in tools),
        ]
