"""The form of a declaration: states, and rows that decide every (state, trigger) pair.

A row either moves the machine or refuses with an issue code; a refusal changes nothing but the
evidence. Guards name facts; `not x` asks for the contrary. A row marked `otherwise` takes what
the other rows of its pair leave over, so each pair is decided for every combination of facts,
and `lint` (in the generators) proves that no two rows of a pair can hold at once.

The same table becomes a real `transitions` machine, a diagram, a page and a set of checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from transitions import Machine

from doneness.spec.vocabulary import Issue, Status

STAYS = None
"""The target of a row that leaves the state as it is."""


@dataclass(frozen=True, slots=True)
class State:
    """A named state.

    Attributes:
        shows: The status that a person sees in this state, where the machine has statuses.
        group: `live`, `ended` or `unknown`: how the diagrams put states together.
        final: Whether the machine may rest here for good.
        meaning: One line for a reader.
    """

    name: str
    group: str
    meaning: str
    shows: Status | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What happens on a trigger in each of some states.

    Attributes:
        target: The next state; `STAYS` for the same one.
        guards: Facts that must hold (`not x`: must not hold), all of them.
        effects: What changes beside the state, by name.
        refused: The issue that is recorded instead, where the row refuses.
        otherwise: The row takes what the other rows of its pairs leave over.
        why: The source of the rule.
    """

    triggers: tuple[str, ...]
    sources: tuple[str, ...]
    target: str | None = STAYS
    guards: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    refused: Issue | None = None
    otherwise: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared machine.

    Attributes:
        facts: The facts that guards may name, each with its meaning.
        effects: The effects that rows may name, each with its meaning.
        main_line: The states of the good end, in order, for the diagrams.
    """

    name: str
    title: str
    states: tuple[State, ...]
    initial: str
    triggers: tuple[str, ...]
    rows: tuple[Row, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    effects: Mapping[str, str] = field(default_factory=dict)
    main_line: tuple[str, ...] = ()

    def state(self, name: str) -> State:
        """The state of that name."""
        return next(state for state in self.states if state.name == name)

    def rows_for(self, state: str, trigger: str) -> tuple[Row, ...]:
        """The rows that decide a pair, the `otherwise` row last."""
        rows = [row for row in self.rows if state in row.sources and trigger in row.triggers]
        return tuple(sorted(rows, key=lambda row: row.otherwise))

    def decide(self, state: str, trigger: str, holds: Callable[[str], bool]) -> Row:
        """The one row that decides a pair, given which facts hold.

        Raises:
            LookupError: nobody decided the pair for these facts.
        """
        return first_that_holds(self.rows_for(state, trigger), holds)


def first_that_holds(rows: Iterable[Row], holds: Callable[[str], bool]) -> Row:
    """The first row whose guards all hold.

    Raises:
        LookupError: there is none, so nobody decided.
    """
    for row in rows:
        if all(guard_holds(guard, holds) for guard in row.guards):
            return row
    raise LookupError("nobody decided this pair for these facts")


def guard_holds(guard: str, holds: Callable[[str], bool]) -> bool:
    """Whether a guard, `x` or `not x`, holds."""
    fact = guard.removeprefix("not ")
    return holds(fact) != (fact != guard)


class Model:
    """The object that a `transitions` machine drives: it holds facts, and logs what happened.

    Attributes:
        facts: Which facts hold now; the caller sets them.
        happened: The rows that were taken, in order.
    """

    state: str

    def __init__(self, facts: Mapping[str, bool] | None = None) -> None:
        self.facts = dict(facts or {})
        self.happened: list[Row] = []


def machine_of(declaration: Declaration, model: Model) -> Machine:
    """A `transitions` machine of a declaration, bound to `model`.

    Every pair is legal there, as in the table: a refusal is a transition that stays.
    """
    machine = Machine(
        model=model,
        states=[state.name for state in declaration.states],
        initial=declaration.initial,
        auto_transitions=False,
        send_event=True,
    )
    for state in declaration.states:
        for trigger in declaration.triggers:
            for row in declaration.rows_for(state.name, trigger):
                machine.add_transition(
                    trigger,
                    state.name,
                    "=" if row.target is STAYS else row.target,
                    conditions=[_condition(model, guard) for guard in row.guards],
                    after=_logging(model, row),
                )
    return machine


def _condition(model: Model, guard: str) -> Callable[[object], bool]:
    return lambda _event: guard_holds(guard, model.facts.__getitem__)


def _logging(model: Model, row: Row) -> Callable[[object], None]:
    return lambda _event: model.happened.append(row)


def names(states: Iterable[State], group: str) -> tuple[str, ...]:
    """The names of the states of a group."""
    return tuple(state.name for state in states if state.group == group)
