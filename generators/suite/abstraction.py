"""The declared machine as a finite one: which events are letters, and what makes a state.

A state is what the declaration holds, up to names and numbers. Three things are put together,
because nothing that can still happen depends on them: all contradictions are one state (the
status is unknown for good, P2), what the calls and requests were once the run or the connection
ended, and how long texts, lists and counts are. What is put together is explored elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from doneness.generators.letters import EOF, WRONG, good_events
from doneness.generators.moves import BY_NAME, Template
from doneness.generators.oracle import Oracle
from doneness.generators.suite.machines import Moore, Word, discovered

RUN: Final = "run-A"
CONTRADICTED: Final = "contradicted"

_EVIDENCE: Final = (
    *WRONG,
    "not JSON: half a surrogate pair",
    "the last again",
    "the last id, other data",
    "a gap by one",
    "another run",
)

OBSERVED: Final = (
    "status",
    "terminal",
    "verdict",
    "closed",
    "waiting",
    "cancel_requested",
    "tools",
)
"""What a snapshot is compared in, while the run goes on."""


def letters(calls: int) -> tuple[str, ...]:
    """The letters for so many calls, by the names of their templates."""
    return (*good_events(calls), *_EVIDENCE, EOF)


def key(oracle: Oracle) -> Hashable:
    """The state of the finite machine that an oracle is in."""
    if oracle.issues:
        return CONTRADICTED
    if oracle.terminal is not None or oracle.closed:
        return (oracle.state, oracle.closed, oracle.last_seq > 0)
    return (
        oracle.state,
        tuple(sorted(oracle.tools.items())),
        oracle.waiting,
        oracle.cancel_requested,
        oracle.last_seq > 0,
    )


@dataclass(frozen=True)
class Abstraction:
    """The finite machine of the declaration for some number of calls.

    Attributes:
        templates: The letters.
        machine: Shows, in each state, what a snapshot must hold there.
        snapshots: The same by state, as data.
        cover: A shortest word to each state.
    """

    calls: int
    templates: tuple[Template, ...]
    machine: Moore
    snapshots: tuple[Mapping[str, Any], ...]
    cover: tuple[Word, ...]

    def by_status(self) -> Moore:
        """The same machine, of which only the status is seen."""
        outputs = tuple(snapshot["status"] for snapshot in self.snapshots)
        return Moore(self.machine.inputs, self.machine.steps, outputs)


@cache
def abstraction(calls: int) -> Abstraction:
    """The machine for one call or two."""
    templates = tuple(BY_NAME[name] for name in letters(calls))
    oracles: dict[Hashable, Oracle] = {}

    def step(state: Hashable, letter: int) -> Hashable:
        after = oracles[state].fork()
        move = templates[letter].make(after)
        if move is not None:
            after.take(move)
        reached = key(after)
        oracles.setdefault(reached, after)
        return reached

    start = Oracle(RUN)
    oracles[key(start)] = start
    states, steps, cover = discovered(key(start), len(templates), step)
    snapshots = tuple(snapshot(oracles[state]) for state in states)
    outputs = tuple(repr(sorted(one.items(), key=lambda item: item[0])) for one in snapshots)
    machine = Moore(len(templates), tuple(map(tuple, steps)), outputs)
    return Abstraction(calls, templates, machine, snapshots, tuple(cover))


def snapshot(oracle: Oracle) -> dict[str, Any]:
    """What every concrete run in the oracle's state must show."""
    if oracle.issues:
        return {"status": str(oracle.status)}
    names: Sequence[str] = OBSERVED
    if oracle.terminal is not None or oracle.closed:
        names = ("status", "terminal", "verdict", "closed")
    shown = {name: getattr(oracle, name) for name in names}
    shown["status"] = str(oracle.status)
    if "tools" in shown:
        shown["tools"] = dict(sorted((call, str(state)) for call, state in oracle.tools.items()))
    if shown["terminal"] is not None:
        shown["terminal"] = str(shown["terminal"])
    return shown
