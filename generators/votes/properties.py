"""What every checker is asked: the named properties, as sentences about one step.

A property says: on a step from a state that fits `before`, a state after it that fits `if_after`
also fits `then_after`. With an empty `before` it is an invariant, and the initial state counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from doneness.generators.votes.system import (
    CALLS,
    NO,
    NONE,
    SHOWS_DONE,
    SHOWS_SUCCESS,
    VARIABLES,
    YES,
    Guard,
)
from doneness.spec import lifecycle
from doneness.spec.toolcall import OPEN
from doneness.spec.vocabulary import Outcome

State = Mapping[str, str]
INITIAL: Final[State] = {name: values[0] for name, values in VARIABLES.items()}


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the lifecycle; `P1` and so on are those of the contract, §8."""

    name: str
    before: Guard = field(default_factory=dict)
    if_after: Guard = field(default_factory=dict)
    then_after: Guard = field(default_factory=dict)

    @property
    def is_invariant(self) -> bool:
        """Whether it speaks of states alone."""
        return not self.before

    def holds_on(self, before: State, after: State) -> bool:
        """Whether one step keeps it."""
        return not (fits(before, self.before) and fits(after, self.if_after)) or fits(
            after, self.then_after
        )


class Vote(NamedTuple):
    """What one checker says.

    Attributes:
        states: The joint states that can be reached, if it counts them.
        verdicts: Whether each property holds.
    """

    checker: str
    states: int | None
    verdicts: Mapping[str, bool]


def fits(state: State, guard: Guard) -> bool:
    """Whether a state fits a guard."""
    return all(state[name] in values for name, values in guard.items())


def _but(name: str, *values: str) -> frozenset[str]:
    return frozenset(VARIABLES[name]) - frozenset(values)


def _only(*values: str) -> frozenset[str]:
    return frozenset(values)


_SUCCEEDED: Final = _only(str(Outcome.SUCCEEDED))
_NO_SUCCESS: Final = frozenset(VARIABLES["state"]) - SHOWS_SUCCESS
_NOT_DONE: Final = frozenset(VARIABLES["state"]) - SHOWS_DONE
_TRUSTED: Final = {"contradicted": _only(NO)}

PROPERTIES: Final = (
    Property(
        "P1: done only on an uncontradicted success with an ok check",
        if_after={"state": SHOWS_DONE, **_TRUSTED},
        then_after={"terminal": _SUCCEEDED, "verdict": _only("ok")},
    ),
    Property(
        "P1: done only after the success, never together with it",
        before={"terminal": _but("terminal", *_SUCCEEDED)},
        then_after={"state": _NOT_DONE},
    ),
    Property(
        "P2: a contradiction is for good",
        before={"contradicted": _only(YES)},
        then_after={"contradicted": _only(YES)},
    ),
    Property(
        "P5: EOF never makes a success",
        before={"state": _NO_SUCCESS, "closed": _only(NO)},
        if_after={"closed": _only(YES)},
        then_after={"state": _NO_SUCCESS},
    ),
    Property(
        "P5: nothing after EOF makes a success",
        before={"state": _NO_SUCCESS, "closed": _only(YES)},
        then_after={"state": _NO_SUCCESS},
    ),
    Property(
        "P5: EOF is for good", before={"closed": _only(YES)}, then_after={"closed": _only(YES)}
    ),
    *(
        Property(
            f"P6: a terminal is never replaced: {outcome}",
            before={"terminal": _only(outcome)},
            then_after={"terminal": _only(outcome)},
        )
        for outcome in map(str, Outcome)
    ),
    *(
        Property(
            f"P6: a verdict is never replaced: {verdict}",
            before={"verdict": _only(verdict)},
            then_after={"verdict": _only(verdict)},
        )
        for verdict in VARIABLES["verdict"][1:]
    ),
    Property(
        "P7: no success with an open call",
        if_after={"terminal": _SUCCEEDED},
        then_after={call: _but(call, *map(str, OPEN)) for call in CALLS},
    ),
    Property(
        "no success while waiting or after a cancel request",
        if_after={"terminal": _SUCCEEDED},
        then_after={"waiting": _only(NO), "cancel_requested": _only(NO)},
    ),
)

FALSE_CONTROL: Final = Property(
    "false: an approval never waits after a cancel request",
    if_after={"cancel_requested": _only(YES)},
    then_after={"state": _but("state", lifecycle.APPROVAL_PENDING)},
)
"""Must be refuted: a checker that proves this proves anything."""

_TERMINALS: Final = {
    lifecycle.CHECKING: Outcome.SUCCEEDED,
    lifecycle.DONE: Outcome.SUCCEEDED,
    lifecycle.REJECTED: Outcome.SUCCEEDED,
    lifecycle.PAUSED: Outcome.PAUSED,
    lifecycle.CANCELLED: Outcome.CANCELLED,
    lifecycle.FAILED: Outcome.FAILED,
    lifecycle.INCOMPLETE: Outcome.INCOMPLETE,
}
_VERDICTS: Final = {lifecycle.DONE: "ok", lifecycle.REJECTED: "not_ok"}

MEANINGS: Final = (
    *(
        Property(
            f"the state {state} says what happened",
            if_after={"state": _only(state)},
            then_after={
                "terminal": _only(str(_TERMINALS.get(state, NONE))),
                "verdict": _only(_VERDICTS.get(state, NONE)),
                **({"closed": _only(YES)} if state in lifecycle.CUT_SHORT else {}),
                **({"closed": _only(NO)} if state in lifecycle.LIVE else {}),
            },
        )
        for state in VARIABLES["state"]
    ),
)
"""Each state's meaning, in facts; what makes the properties inductive."""
