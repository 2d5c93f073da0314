"""The vote of z3: each property proven by induction, or refuted by a real trace.

Induction needs no exploration at all. Every state that fits all properties together, reachable or
not, is taken; no command may lead from it to one that does not fit. What is not inductive is
refuted only if a trace from the initial state breaks it, within a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from doneness.generators.votes.properties import INITIAL, Property, Vote
from doneness.generators.votes.system import VARIABLES, Command, Guard

STEPS_MAX: Final = 6
"""How long a refuting trace may be."""

_CODES: Final[Mapping[str, Mapping[str, int]]] = {
    name: {str(value): code for code, value in enumerate(values)}
    for name, values in VARIABLES.items()
}


def vote(
    commands: Sequence[Command], properties: Sequence[Property], meanings: Sequence[Property]
) -> Vote:
    """Prove or refute each property, `meanings` being proven along with them.

    A property that does not hold must not help to prove the others, so each is proven with the
    meanings alone.

    Raises:
        ImportError: z3 is not installed.
        LookupError: a property was neither proven nor refuted, or the meanings do not hold.
    """
    prover = _Prover(commands)
    for one in meanings:
        if not prover.is_inductive(one, meanings):
            raise LookupError(f"{one.name}: not inductive, so z3 says nothing")
    verdicts = {}
    for one in properties:
        if prover.is_inductive(one, [*meanings, one]):
            verdicts[one.name] = True
        elif prover.is_refuted(one):
            verdicts[one.name] = False
        else:
            raise LookupError(f"{one.name}: neither inductive nor refuted in {STEPS_MAX} steps")
    return Vote("z3", None, verdicts)


class _Prover:
    def __init__(self, commands: Sequence[Command]) -> None:
        import z3

        self.z3: Any = z3
        self.commands = commands
        self.states = [self._state(number) for number in range(STEPS_MAX + 1)]

    def is_inductive(self, one: Property, assumed: Sequence[Property]) -> bool:
        """Whether it holds at first, and no command breaks it where the assumed ones hold."""
        z3, (before, after) = self.z3, self.states[:2]
        if one.is_invariant and not one.holds_on(INITIAL, INITIAL):
            return False
        solver = z3.Solver()
        solver.add(self._domain(before), self._step(before, after))
        for other in assumed:
            if other.is_invariant:
                solver.add(self._holds(other, before, before))
        solver.add(z3.Not(self._holds(one, before, after)))
        return bool(solver.check() == z3.unsat)

    def is_refuted(self, one: Property) -> bool:
        """Whether some trace from the initial state breaks it."""
        z3 = self.z3
        solver = z3.Solver()
        solver.add(self._fits(self.states[0], {k: frozenset({v}) for k, v in INITIAL.items()}))
        for before, after in zip(self.states, self.states[1:], strict=False):
            solver.add(self._step(before, after))
            solver.push()
            solver.add(z3.Not(self._holds(one, before, after)))
            if solver.check() == z3.sat:
                return True
            solver.pop()
        return False

    def _state(self, number: int) -> dict[str, Any]:
        return {name: self.z3.Int(f"{name}_{number}") for name in VARIABLES}

    def _domain(self, state: Mapping[str, Any]) -> Any:
        return self._fits(state, {name: frozenset(values) for name, values in VARIABLES.items()})

    def _step(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Any:
        z3 = self.z3
        return z3.Or(
            *(
                z3.And(
                    self._fits(before, command.guard),
                    *(
                        after[name]
                        == (
                            _CODES[name][command.updates[name]]
                            if name in command.updates
                            else before[name]
                        )
                        for name in VARIABLES
                    ),
                )
                for command in self.commands
            )
        )

    def _holds(self, one: Property, before: Mapping[str, Any], after: Mapping[str, Any]) -> Any:
        z3 = self.z3
        asked = z3.And(self._fits(before, one.before), self._fits(after, one.if_after))
        return z3.Implies(asked, self._fits(after, one.then_after))

    def _fits(self, state: Mapping[str, Any], guard: Guard) -> Any:
        z3 = self.z3
        return z3.And(
            *(
                z3.Or(*(state[name] == _CODES[name][value] for value in sorted(values)))
                for name, values in guard.items()
            )
        )
