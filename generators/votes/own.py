"""Our own vote: the oracle, driven through every joint state of the same variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from doneness.generators.exploration import RUN, Layer
from doneness.generators.letters import EOF, WRONG, good_events
from doneness.generators.moves import BY_NAME, CALLS, Template
from doneness.generators.oracle import Oracle
from doneness.generators.votes import system
from doneness.generators.votes.properties import INITIAL, Property, State, Vote
from doneness.spec.toolcall import UNREQUESTED

ALPHABET: Final[Sequence[Template]] = tuple(
    BY_NAME[name] for name in (*good_events(len(CALLS)), "app.checked without ok", *WRONG, EOF)
)
"""One event for each trigger and each way it can be decided, and one contradiction from outside."""


def state_of(oracle: Oracle) -> tuple[str, ...]:
    """The variables of `system`, read off an oracle."""
    flags = (oracle.waiting, oracle.cancel_requested, oracle.closed, bool(oracle.issues))
    verdict = {None: system.NONE, True: "ok", False: "not_ok"}[oracle.verdict]
    return (
        oracle.state,
        *(str(oracle.tools.get(call, UNREQUESTED)) for call in CALLS),
        *(system.YES if flag else system.NO for flag in flags),
        system.NONE if oracle.terminal is None else str(oracle.terminal),
        verdict,
    )


LAYER: Final = Layer(
    "votes",
    "all variables that the other checkers have",
    state_of,
    lambda template: template in ALPHABET,
)


def vote(properties: Sequence[Property]) -> Vote:
    """Drive the oracle through every step, and judge each."""
    holds = {one.name: not one.is_invariant or one.holds_on(INITIAL, INITIAL) for one in properties}
    states = {tuple(INITIAL.values())}
    judged = set()
    for before, after in steps():
        states.add(after)
        if (before, after) not in judged:
            judged.add((before, after))
            named = _named(before), _named(after)
            for one in properties:
                holds[one.name] = holds[one.name] and one.holds_on(*named)
    return Vote("our own exploration", len(states), holds)


def steps() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every step from every joint state: before, after."""
    frontier = [Oracle(RUN)]
    seen = {state_of(frontier[0])}
    while frontier:
        reached = []
        for oracle in frontier:
            before = state_of(oracle)
            for template in ALPHABET:
                move = template.make(oracle)
                if move is None:
                    continue
                other = oracle.fork()
                other.take(move)
                after = state_of(other)
                yield before, after
                if after not in seen:
                    seen.add(after)
                    reached.append(other)
        frontier = reached


def _named(state: tuple[str, ...]) -> State:
    return dict(zip(system.VARIABLES, state, strict=True))
