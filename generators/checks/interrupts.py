"""Whose exception it is: Ctrl-C passes through a reducer, what an event raises does not.

An event's own code, the comparison of a key say, may raise whatever Ctrl-C raises. `feed` never
raises on account of an event (P8), and never swallows an interruption that is not the event's. An
interruption is made to come at every line in turn, by tracing, so that no chance is in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType, SimpleNamespace
from typing import Any, Final

from doneness.generators.checks.telling import RUN, text_event
from doneness.generators.checks.undisturbed import undisturbed
from doneness.spec.vocabulary import Issue

LINES_MAX: Final = 500
"""No event takes so many lines."""


class LoudKey:
    """A key that is in the place of a text, and raises when it is compared with it."""

    def __init__(self, text: str, error: type[BaseException]) -> None:
        self._text = text
        self._error = error

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        raise self._error


class Exit(BaseException):
    """Not an `Exception`, and nobody's."""


ERRORS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit, Exit)


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """Interruptions that are swallowed, and events that get an exception out."""
    yield from _interrupted(machine)
    for error in ERRORS:
        for key in text_event(1):
            event = {
                LoudKey(name, error) if name == key else name: value
                for name, value in text_event(1).items()
            }
            yield from _fed(machine, event, Issue.BAD_ENVELOPE, f"{error.__name__} in {key}")
        loud: dict[object, str] = {LoudKey("text", error): "x"}
        yield from _fed(
            machine, text_event(1, data=loud), Issue.NOT_JSON, f"{error.__name__} in data"
        )


def _fed(machine: SimpleNamespace, event: object, issue: Issue, what: str) -> Iterator[str]:
    progress = machine.reducer.Progress(RUN)
    try:
        progress.feed(event)
    except BaseException as error:  # noqa: BLE001 # the event's, so it must not come out
        yield f"{what}: {type(error).__name__} came out"
    else:
        if progress.issues != [issue]:
            yield f"{what}: {progress.issues}, expected {issue}"


def _interrupted(machine: SimpleNamespace) -> Iterator[str]:
    for event in (
        text_event(1),
        text_event(1, id="free"),
        text_event(1, kind="cancel.requested", data={}),
        text_event(1, data=[]),
        {},
        [text_event(1)],
        None,
    ):
        for line in range(1, LINES_MAX):
            progress = machine.reducer.Progress(RUN)
            came = _interrupted_at(line, progress.feed, event)
            if came is None:
                break
            if came is not KeyboardInterrupt:
                yield f"interrupted at line {line} of {event!r:.60}: {came.__name__} came out"
        else:
            yield f"{event!r:.60} takes {LINES_MAX} lines"


def _interrupted_at(
    number: int, feed: Callable[[object], None], event: object
) -> type[BaseException] | None:
    """What came out of an interruption at so many lines; None if there are not so many."""
    left = number

    def trace(_frame: FrameType, what: str, _argument: object) -> Any:
        nonlocal left
        if what == "line":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    with undisturbed():
        sys.settrace(trace)
        try:
            feed(event)
        except BaseException as error:  # noqa: BLE001 # which one is what is asked
            return type(error)
        finally:
            sys.settrace(before)
    return None if left > 0 else Swallowed


class Swallowed(BaseException):
    """Stands for an interruption that nobody heard of."""
