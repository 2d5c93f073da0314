"""A hand-written case put to a reducer: is it red?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from doneness.fixtures.cases import EOF, Case


def is_red(
    factory: Callable[[str], Any],
    case: Case,
    feed: Callable[[Any, object], None] = lambda reducer, event: reducer.feed(event),
) -> bool:
    """Whether a reducer fails a case: at a step, at the end, or in an asserted field."""
    try:
        reducer = factory(case.run)
        for event, status in zip(case.events, case.expected_steps or (), strict=True):
            _take(reducer, event, feed)
            if str(reducer.status) != status:
                return True
        _take(reducer, EOF, feed)
        if str(reducer.status) != case.expected_final:
            return True
        return any(getattr(reducer, name) != value for name, value in case.assertions.items())
    except Exception:  # noqa: BLE001 # a reducer that raises fails the case, whatever it raises
        return True


def _take(reducer: Any, event: object, feed: Callable[[Any, object], None]) -> None:
    if event is EOF:
        reducer.close_transport()
    else:
        feed(reducer, event)
