"""Lint for declarations: what a table can get wrong without any run ever going wrong.

Nothing here knows what the tables are about. A pair of state and trigger must be decided exactly
once for each combination of facts; every state must be reachable, and able to end; every name
must be declared, and used. And the table must say the same when it is a real `transitions`
machine, for that is what is shown to people.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import doneness.spec
from doneness.spec.table import Declaration, Model, Row, guard_holds, machine_of
from doneness.spec.vocabulary import Status

Holds = Callable[[str], bool]
Decide = Callable[[str, str, Holds], Row]

FACTS_MAX: Final = 12
"""How many facts may decide one pair: all combinations of them are tried."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a declaration.

    Attributes:
        rule: Which rule of this lint it breaks.
        where: The state, trigger, pair or row.
    """

    declaration: str
    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.declaration}: {self.where}: {self.message} ({self.rule})"


def declarations() -> list[Declaration]:
    """Every declaration of `doneness.spec`, by name."""
    found: dict[str, Declaration] = {}
    for module in pkgutil.iter_modules(doneness.spec.__path__):
        for value in vars(importlib.import_module(f"doneness.spec.{module.name}")).values():
            if isinstance(value, Declaration):
                found[value.name] = value
    return [found[name] for name in sorted(found)]


def lint(declaration: Declaration) -> list[Finding]:
    """All that is wrong with a declaration; nothing else is asked where a name is wrong."""
    wrong_names = list(_names(declaration))
    if wrong_names:
        return wrong_names
    return [
        *_unused(declaration),
        *_rows(declaration),
        *_pairs(declaration),
        *_unreachable(declaration),
        *_traps(declaration),
        *_shows(declaration),
    ]


# Names.


def _names(declaration: Declaration) -> Iterator[Finding]:
    states = [state.name for state in declaration.states]
    for what, names in (("state", states), ("trigger", list(declaration.triggers))):
        for name, count in Counter(names).items():
            if count > 1:
                yield _finding(declaration, "declared-twice", name, f"a {what} declared twice")
    known = {
        "state": frozenset(states),
        "trigger": frozenset(declaration.triggers),
        "fact": frozenset(declaration.facts),
        "effect": frozenset(declaration.effects),
    }
    named = [("initial state", "state", declaration.initial)]
    named += [("main line", "state", name) for name in declaration.main_line]
    for row in declaration.rows:
        where = _row(declaration, row)
        named += [(where, "state", name) for name in row.sources]
        named += [(where, "state", name) for name in (row.target,) if name is not None]
        named += [(where, "trigger", name) for name in row.triggers]
        named += [(where, "fact", fact) for fact in _facts(row)]
        named += [(where, "effect", name) for name in row.effects]
    for where, what, name in named:
        if name not in known[what]:
            message = f"{what} {name!r} is named but not declared"
            yield _finding(declaration, f"undeclared-{what}", where, message)


def _unused(declaration: Declaration) -> Iterator[Finding]:
    rows = declaration.rows
    used = {
        "fact": {fact for row in rows for fact in _facts(row)},
        "effect": {effect for row in rows for effect in row.effects},
    }
    for what, names in (("fact", declaration.facts), ("effect", declaration.effects)):
        for name in names:
            if name not in used[what]:
                message = f"{what} {name!r} is declared but no row names it"
                yield _finding(declaration, f"unused-{what}", name, message)


# Rows and pairs.


def _rows(declaration: Declaration) -> Iterator[Finding]:
    for row in declaration.rows:
        where = _row(declaration, row)
        if row.refused is not None and (row.target is not None or row.effects):
            message = "a refusal changes nothing but the evidence; it has no target and no effects"
            yield _finding(declaration, "refusal-changes", where, message)
        if row.otherwise and row.guards:
            message = "what is left over has no guards of its own"
            yield _finding(declaration, "otherwise-guarded", where, message)
        if not row.why:
            yield _finding(declaration, "no-reason", where, "the row does not say where it is from")
        if not any(
            row in _deciding(declaration, state, trigger)
            for state in row.sources
            for trigger in row.triggers
        ):
            yield _finding(declaration, "dead-row", where, "no combination of facts leads here")


def _pairs(declaration: Declaration) -> Iterator[Finding]:
    for state, trigger in product(declaration.states, declaration.triggers):
        where = f"{state.name} x {trigger}"
        rows = declaration.rows_for(state.name, trigger)
        if not rows:
            yield _finding(declaration, "undecided-pair", where, "nobody decided this pair")
            continue
        if sum(row.otherwise for row in rows) > 1:
            message = "two rows take what is left over"
            yield _finding(declaration, "overlapping-guards", where, message)
        for valuation in valuations(rows):
            taking = [row for row in rows if not row.otherwise and _holds(row, valuation)]
            if len(taking) > 1:
                both = " and ".join(_row(declaration, row) for row in taking)
                message = f"{both} hold together {_when(valuation)}"
                yield _finding(declaration, "overlapping-guards", where, message)
                break
            if not taking and not any(row.otherwise for row in rows):
                message = f"nobody decided it {_when(valuation)}"
                yield _finding(declaration, "undecided-pair", where, message)
                break


def _deciding(declaration: Declaration, state: str, trigger: str) -> list[Row]:
    """The rows of a pair that some combination of facts leads to."""
    rows = declaration.rows_for(state, trigger)
    found = []
    for valuation in valuations(rows):
        taking = [row for row in rows if not row.otherwise and _holds(row, valuation)]
        found += taking or [row for row in rows if row.otherwise]
    return found


def valuations(rows: Iterable[Row]) -> Iterator[Mapping[str, bool]]:
    """Every combination of the facts that decide between some rows.

    Raises:
        ValueError: there are more than `FACTS_MAX` of them.
    """
    facts = sorted({fact for row in rows for fact in _facts(row)})
    if len(facts) > FACTS_MAX:
        raise ValueError(f"more than {FACTS_MAX} facts decide one pair: {', '.join(facts)}")
    for values in product((False, True), repeat=len(facts)):
        yield dict(zip(facts, values, strict=True))


# Reachability.


def _unreachable(declaration: Declaration) -> Iterator[Finding]:
    reached = _reached(_successors(declaration), declaration.initial)
    for state in declaration.states:
        if state.name not in reached:
            message = "no sequence of triggers leads here"
            yield _finding(declaration, "unreachable-state", state.name, message)


def _traps(declaration: Declaration) -> Iterator[Finding]:
    successors = _successors(declaration)
    final = {state.name for state in declaration.states if state.final}
    for state in declaration.states:
        reached = _reached(successors, state.name)
        if not reached & final:
            message = "once here, no final state can be reached"
            yield _finding(declaration, "trap", state.name, message)
    for row in declaration.rows:
        if row.target is not None and row.refused is None:
            for source in set(row.sources) & final:
                if row.target not in final:
                    message = f"a final state that {row.target!r} follows, which is not final"
                    yield _finding(declaration, "final-left", source, message)


def _successors(declaration: Declaration) -> dict[str, set[str]]:
    successors: dict[str, set[str]] = {state.name: set() for state in declaration.states}
    for state, trigger in product(declaration.states, declaration.triggers):
        for row in _deciding(declaration, state.name, trigger):
            if row.target is not None and row.refused is None:
                successors[state.name].add(row.target)
    return successors


def _reached(successors: Mapping[str, set[str]], start: str) -> set[str]:
    reached, frontier = {start}, [start]
    while frontier:
        fresh = successors[frontier.pop()] - reached
        reached |= fresh
        frontier += fresh
    return reached


# What people see.


def _shows(declaration: Declaration) -> Iterator[Finding]:
    """Where several states show something, all must: what would be shown in the others?"""
    silent = [state.name for state in declaration.states if state.shows is None]
    if len(declaration.states) - len(silent) > 1:
        for name in silent:
            yield _finding(declaration, "shows-nothing", name, "no status is shown in this state")
        for status in sorted(set(Status) - {state.shows for state in declaration.states}):
            yield _finding(declaration, "unshown-status", status, "no state shows this status")
    for state in declaration.states:
        if not state.meaning:
            yield _finding(declaration, "no-meaning", state.name, "the state says not what it is")


# The same table as a real machine.


def differences_from_machine(
    declaration: Declaration, decide: Decide | None = None
) -> list[Finding]:
    """Where a real `transitions` machine answers otherwise than the table, cell by cell.

    A cell is a state, a trigger, and a combination of the facts that decide the pair. Facts that
    the table does not ask for are not there, so a machine that asks for one is found, too.

    Args:
        declaration: The table.
        decide: How the table is read; its own `decide` by default.
    """
    decide = decide or declaration.decide
    model = Model()
    machine = machine_of(declaration, model)
    findings = []
    for state, trigger in product(declaration.states, declaration.triggers):
        for facts in valuations(declaration.rows_for(state.name, trigger)):
            model.facts, model.happened = dict(facts), []
            machine.set_state(state.name, model)
            try:
                row = decide(state.name, trigger, facts.__getitem__)
                wanted = _answer(declaration, [row], row.target or state.name)
            except LookupError as error:
                wanted = str(error)
            try:
                getattr(model, "trigger")(trigger)  # noqa: B009 # added by transitions
            except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
                answer = f"raised {type(error).__name__}: {error}"
            else:
                answer = _answer(declaration, model.happened, model.state)
            if answer != wanted:
                where = f"{state.name} x {trigger}"
                message = f"{_when(facts)} the table says {wanted}, the machine {answer}"
                findings.append(_finding(declaration, "machine-differs", where, message))
    return findings


def cells(declaration: Declaration) -> int:
    """How many (state, trigger, facts) cells there are."""
    return sum(
        sum(1 for _ in valuations(declaration.rows_for(state.name, trigger)))
        for state, trigger in product(declaration.states, declaration.triggers)
    )


def _answer(declaration: Declaration, rows: Iterable[Row], state: str) -> str:
    return f"{' and '.join(_row(declaration, row) for row in rows) or 'nothing'}, then {state!r}"


# Words.


def _finding(declaration: Declaration, rule: str, where: str, message: str) -> Finding:
    return Finding(declaration.name, rule, str(where), message)


def _row(declaration: Declaration, row: Row) -> str:
    for place, other in enumerate(declaration.rows, 1):
        if other is row:
            return f"row {place} ({', '.join(row.triggers)})"
    return f"a row that is not in the table ({', '.join(row.triggers)})"


def _facts(row: Row) -> list[str]:
    return [guard.removeprefix("not ") for guard in row.guards]


def _holds(row: Row, valuation: Mapping[str, bool]) -> bool:
    return all(guard_holds(guard, valuation.__getitem__) for guard in row.guards)


def _when(valuation: Mapping[str, bool]) -> str:
    words = [name if value else f"not {name}" for name, value in valuation.items()]
    return f"when {', '.join(words)}" if words else "always"
