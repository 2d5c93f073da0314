"""Short streams about how many: the same a few times, two in turn, and several calls at once.

Exploration has two calls, and does not follow an event that leaves the declared state as it was;
long streams are compared at their end alone. Here the third and the fifth are looked at one by one:
a reducer may count, or toggle, or have room for four.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from doneness.generators.checks.letters import says
from doneness.generators.checks.stream_parts import (
    FAILED,
    FINISHED,
    REQUESTED,
    STARTED,
    SUCCEEDED,
    Stream,
)
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME, Template

TIMES: Final = 10
TURNS: Final = 4
CALLS: Final = (3, 4, 5, 6, 9)

_LETTERS: Final = tuple(
    BY_NAME[name]
    for name in (
        "text",
        "empty text",
        "response completed",
        "response unresolved",
        "approval wait",
        "cancel requested",
        "the last again",
        "another run",
        "EOF",
        "requested c1",
        "started c1",
        "finished c1",
        "failed c1",
        "not an envelope: no run",
        "not JSON: half a surrogate pair",
        "the last id, other data",
        "a gap by one",
        "a repeat of the last seq",
        "kind 'future.completed'",
        "failed with text",
        "paused with text",
    )
)


def few_times() -> Iterator[Stream]:
    """Each letter some times, any two in turn, and calls of which some are settled."""
    for letter in _LETTERS:
        yield RUN, (letter,) * TIMES
    for pair in combinations(_LETTERS, 2):
        yield RUN, pair * TURNS
    for number in CALLS:
        yield from _calls(number)


def _calls(number: int) -> Iterator[Stream]:
    """As many calls at once, settled in some order, and an end after each of them."""
    names = [f"call-{place}" for place in range(number)]
    requested = _each(REQUESTED, names)
    for order in (names, names[::-1], [*names[1::2], *names[::2]]):
        for settled in (FINISHED, FAILED):
            for count in range(number + 1):
                yield RUN, (*requested, *_each(settled, order[:count]), SUCCEEDED)
        started = _each(STARTED, order)
        yield RUN, (*requested, *started, *_each(FINISHED, names), SUCCEEDED)
    in_turn = [_each(kind, [name])[0] for name in names for kind in (REQUESTED, STARTED, FINISHED)]
    yield RUN, (*in_turn, SUCCEEDED)
    for name in names:
        yield RUN, (*in_turn, *_each(REQUESTED, [name]))


def _each(kind: str, names: list[str]) -> tuple[Template, ...]:
    return tuple(says(kind, {"call_id": name}) for name in names)
