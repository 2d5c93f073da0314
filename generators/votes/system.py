"""The declared lifecycle with two calls, as guarded commands over finite variables.

A guard is a conjunction: each variable named must have one of some values. That is little, and
enough: it can be written in any checker's language without thinking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Final, TypeAlias

from doneness.spec import lifecycle
from doneness.spec.lifecycle import LIFECYCLE
from doneness.spec.table import Declaration, Row
from doneness.spec.toolcall import OPEN, TOOL_CALL
from doneness.spec.vocabulary import Outcome, Status

Guard: TypeAlias = Mapping[str, frozenset[str]]
"""Variables, each with the values that it may have; all must fit."""

CALLS: Final = ("call_1", "call_2")
NO, YES, NONE = "no", "yes", "none"
FLAG: Final = (NO, YES)

VARIABLES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "state": tuple(state.name for state in LIFECYCLE.states),
        **{call: tuple(state.name for state in TOOL_CALL.states) for call in CALLS},
        "waiting": FLAG,
        "cancel_requested": FLAG,
        "closed": FLAG,
        "contradicted": FLAG,
        "terminal": (NONE, *map(str, Outcome)),
        "verdict": (NONE, "ok", "not_ok"),
    }
)
"""Each variable with its values, the first one initially."""


@dataclass(frozen=True, slots=True)
class Command:
    """What may happen.

    Attributes:
        name: The trigger, and the call if there is one.
        updates: What changes; everything else stays.
    """

    name: str
    guard: Guard
    updates: Mapping[str, str]


def commands(declaration: Declaration = LIFECYCLE) -> list[Command]:
    """All commands of the declared lifecycle, and the one that any contradiction may come."""
    found: dict[tuple[object, ...], list[Command]] = {}
    for command in _every(declaration):
        rest = {name: values for name, values in command.guard.items() if name != "state"}
        alike = (command.name, tuple(sorted(rest.items())), tuple(sorted(command.updates.items())))
        found.setdefault(alike, []).append(command)
    contradiction = Command("contradiction", {}, {"contradicted": YES})
    return [*(_merged(alike) for alike in found.values()), contradiction]


def _merged(alike: Sequence[Command]) -> Command:
    """Commands that differ in the state alone, as one."""
    states = frozenset[str]().union(*(command.guard["state"] for command in alike))
    return Command(alike[0].name, {**alike[0].guard, "state": states}, alike[0].updates)


def _every(declaration: Declaration) -> Iterator[Command]:
    for state, trigger in product(declaration.states, declaration.triggers):
        rows = declaration.rows_for(state.name, trigger)
        for event in _events(trigger):
            for row in rows:
                for guard in _guards(row, rows, event):
                    own = {"state": frozenset({state.name}), **event.guard}
                    merged = _both(own, guard)
                    if merged is not None:
                        yield Command(event.name, merged, _updates(row, trigger, event))


@dataclass(frozen=True, slots=True)
class _Event:
    """One way in which a trigger can come: which facts about the event hold."""

    name: str
    facts: Mapping[str, bool]
    guard: Guard
    move: Mapping[str, str]


def _events(trigger: str) -> Iterator[_Event]:
    if trigger in lifecycle.CALLS:
        for call, state in product(CALLS, TOOL_CALL.states):
            row = TOOL_CALL.decide(state.name, trigger, lambda _fact: False)
            moves = row.refused is None and row.target is not None
            move = {call: str(row.target)} if moves else {}
            guard = {call: frozenset({state.name})}
            yield _Event(f"{trigger} {call}", {"call_moves": moves}, guard, move)
        return
    free = ("final_text", "digest_matches")
    for values in product((False, True), repeat=len(free)):
        yield _Event(trigger, dict(zip(free, values, strict=True)), {}, {})


def _guards(row: Row, rows: Sequence[Row], event: _Event) -> list[Guard]:
    """The alternatives under which a row decides."""
    alternatives = _all_of([_literal(guard, event) for guard in row.guards])
    if row.otherwise:
        for other in rows:
            if other is not row:
                negated = [_negated(_literal(guard, event)) for guard in other.guards]
                refuted = [guard for one in negated for guard in one]
                alternatives = _all_of([alternatives, refuted])
    return alternatives


def _all_of(alternatives: Sequence[Sequence[Guard]]) -> list[Guard]:
    """The conjunction of disjunctions, as a disjunction."""
    found: list[Guard] = [{}]
    for choice in alternatives:
        found = [
            merged
            for guard in found
            for other in choice
            if (merged := _both(guard, other)) is not None
        ]
    return found


def _both(one: Guard, other: Guard) -> Guard | None:
    merged = dict(one)
    for name, values in other.items():
        merged[name] = merged.get(name, values) & values
        if not merged[name]:
            return None
    return merged


_SETTLED: Final = frozenset(VARIABLES[CALLS[0]]) - frozenset(map(str, OPEN))


def _literal(guard: str, event: _Event) -> list[Guard]:
    """What a guard of the table says, as alternatives; none of them if it cannot hold."""
    fact = guard.removeprefix("not ")
    wanted = fact == guard
    if fact in event.facts:
        return [{}] if event.facts[fact] == wanted else []
    if fact == "calls_settled":
        settled: list[Guard] = [dict.fromkeys(CALLS, _SETTLED)]
        return settled if wanted else _negated(settled)
    return [{fact: frozenset({YES if wanted else NO})}]


def _negated(alternatives: Sequence[Guard]) -> list[Guard]:
    """What holds exactly when none of the alternatives does."""
    each = [
        [{name: frozenset(VARIABLES[name]) - values} for name, values in guard.items()]
        for guard in alternatives
    ]
    return _all_of(each)


def _updates(row: Row, trigger: str, event: _Event) -> dict[str, str]:
    if row.refused is not None:
        return {"contradicted": YES}
    updates = {} if row.target is None else {"state": row.target}
    for effect in row.effects:
        updates |= _EFFECTS[effect](trigger, event)
    return updates


_OUTCOMES: Final = dict(zip(lifecycle.ENDS, Outcome, strict=True))

_EFFECTS: Final[Mapping[str, Callable[[str, _Event], dict[str, str]]]] = {
    "append_text": lambda _trigger, _event: {},
    "close": lambda _trigger, _event: {"closed": YES},
    "conclude": lambda trigger, _event: {
        "terminal": str(_OUTCOMES[trigger]),
        "waiting": YES if _OUTCOMES[trigger] is Outcome.PAUSED else NO,
    },
    "judge": lambda trigger, _event: {
        "verdict": "ok" if trigger == lifecycle.CHECKED_OK else "not_ok"
    },
    "mark_unresolved": lambda _trigger, _event: {},
    "move_call": lambda _trigger, event: dict(event.move),
    "record_response": lambda _trigger, _event: {},
    "recover": lambda _trigger, _event: {},
    "request_cancel": lambda _trigger, _event: {"cancel_requested": YES},
    "wait": lambda _trigger, _event: {"waiting": YES},
}

SHOWS_SUCCESS: Final = frozenset(
    state.name
    for state in LIFECYCLE.states
    if state.shows in (Status.CHECKING, Status.DONE, Status.REJECTED)
)
SHOWS_DONE: Final = frozenset(s.name for s in LIFECYCLE.states if s.shows is Status.DONE)
