"""Short streams about how many: the same a few times, two in turn, several calls, much of all.

Exploration has two calls, and does not follow an event that leaves the declared state as it was;
long streams are compared at their end alone. Here the third and the fifth are looked at one by one:
a reducer may count, or toggle, or have room for four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Final

from doneness.generators.checks.letters import numbered, says
from doneness.generators.checks.stream_parts import (
    FAILED,
    FINISHED,
    REQUESTED,
    STARTED,
    SUCCEEDED,
    Stream,
)
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME, TEMPLATES, Template
from doneness.spec.vocabulary import Kind


def _ahead(by: int) -> Callable[[int], int]:
    return lambda last: last + by


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


_PLENTY: Final = tuple(
    tuple(BY_NAME[name] for name in names)
    for names in (
        ("text", "odd text", "response completed", "response completed", "requested c1"),
        ("text", "requested c1", "finished c1", "requested c2", "failed c2", "response completed"),
        ("requested c1", "started c1", "requested c2", "approval wait", "cancel requested"),
        ("text", "response completed", "response unresolved", "response completed"),
        ("response unresolved", "response unresolved", "response completed"),
        ("requested c1", "succeeded with text", "finished c1", "succeeded with odd text"),
        ("approval wait", "succeeded with text", "requested c1", "paused without text"),
        ("text", "response completed", "requested c1", "failed with text"),
        ("text", "response completed", "succeeded with text", "check right not ok"),
        ("text", "the last id, other data", "a gap by one", "text", "requested c1"),
    )
)
_ANYTHING: Final = (
    *(one for one in TEMPLATES if one.group in ("kind", "eof", "order", "repeat", "foreign")),
    *(
        numbered(_ahead(by), f"seq ahead by {by:,}", Kind.TEXT_DELTA, {"text": "x"})
        for by in (10, 100, 1_000, 10_000, 1_000_000)
    ),
)


def plenty() -> Iterator[Stream]:
    """Where there is more than one of everything, and much was refused: any event, then probes."""
    probes = tuple(BY_NAME[name] for name in ("text", "succeeded with text", "check right ok"))
    for before, letter in product(_PLENTY, _ANYTHING):
        yield RUN, (*before, letter, *probes)


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
