"""The vote of minicheck, an explorer from PyPI, on the guarded commands."""

from __future__ import annotations

from collections.abc import Sequence

from doneness.generators.votes.properties import INITIAL, Property, Vote, fits
from doneness.generators.votes.system import NO, VARIABLES, Command

_BROKEN = "broken"


def vote(commands: Sequence[Command], properties: Sequence[Property]) -> Vote:
    """Count the states, and judge each property.

    minicheck knows invariants only. A property of steps is watched by a variable that says which
    of them was broken on the way; as long as none is, that adds no state.

    Raises:
        ImportError: minicheck is not installed.
    """
    import minicheck

    names = tuple(VARIABLES)
    of_steps = [one for one in properties if not one.is_invariant]

    def transitions(state: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
        *values, broken = state
        before = dict(zip(names, values, strict=True))
        found = []
        for command in commands:
            if fits(before, command.guard):
                after = {**before, **command.updates}
                kept = broken
                for one in of_steps:
                    if not one.holds_on(before, after) and kept == NO:
                        kept = one.name
                found.append((command.name, (*after.values(), kept)))
        return found

    def judge(one: Property):  # type: ignore[no-untyped-def] # minicheck takes any callable
        if one.is_invariant:
            return lambda state: one.holds_on(state, state)
        return lambda state: state[_BROKEN] != one.name

    protocol = minicheck.Protocol(
        name="lifecycle",
        candidate=False,
        fields=(*names, _BROKEN),
        initial=(*INITIAL.values(), NO),
        transitions=transitions,
        invariants={one.name: judge(one) for one in properties},
    )
    found = minicheck.check_safety(protocol)
    verdicts = {name: said["holds"] is True for name, said in found["properties"].items()}
    return Vote("minicheck", found["reachable_states"], verdicts)
