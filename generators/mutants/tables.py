"""The same for the declaration: every decision of the declared tables, changed, must be noticed.

A changed table that no stream tells from the right one would be a rule that means nothing. This
module says what is changed; `table_judging` says how that is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from doneness.generators import oracle as oracles
from doneness.spec.admission import STEPS, Step
from doneness.spec.lifecycle import LIFECYCLE
from doneness.spec.table import Declaration, Row
from doneness.spec.toolcall import TOOL_CALL
from doneness.spec.vocabulary import Issue, Status

ADMISSION: Final = "admission"

DECLARED: Final[Mapping[str, Declaration]] = {one.name: one for one in (LIFECYCLE, TOOL_CALL)}


@dataclass(frozen=True, slots=True)
class TableMutant:
    """One change of one decision.

    Attributes:
        table: `lifecycle`, `toolcall` or `admission`.
        decided: The state and trigger, or the step, or the state alone where what it shows changes.
        place: Which of the pair's rows is changed.
        new: What stands there instead.
    """

    table: str
    decided: tuple[str, ...]
    operator: str
    change: str
    new: Any
    place: int = 0

    @property
    def key(self) -> str:
        """What names the change."""
        row = f" (row {self.place + 1})" if self.place else ""
        return f"spec.{self.table}:{' '.join(self.decided)}{row}: {self.operator}: {self.change}"


def table_mutants() -> Iterator[TableMutant]:
    """Every changed decision."""
    for declaration in DECLARED.values():
        yield from changed_rows(declaration)
        for state in declaration.states:
            for status in Status:
                if state.shows not in (None, status):
                    change = f"{state.shows} -> {status}"
                    yield TableMutant(declaration.name, (state.name,), "shows", change, status)
    for step in STEPS:
        for operator, change, other in _changed_step(step):
            yield TableMutant(ADMISSION, (step.catches,), operator, change, other)


def changed_rows(declaration: Declaration) -> Iterator[TableMutant]:
    """Every change of a row, in each of the pairs that it decides."""
    for state in declaration.states:
        for trigger in declaration.triggers:
            for place, row in enumerate(declaration.rows_for(state.name, trigger)):
                for operator, change, new in _changed_row(declaration, state.name, row):
                    yield TableMutant(
                        declaration.name, (state.name, trigger), operator, change, new, place
                    )


def _changed_row(declaration: Declaration, state: str, row: Row) -> Iterator[tuple[str, str, Row]]:
    target = row.target or state
    if row.refused is not None:
        if declaration is LIFECYCLE:  # a refused call is refused by the lifecycle's own row
            for issue in Issue:
                if issue is not row.refused:
                    yield "issue", f"{row.refused} -> {issue}", replace(row, refused=issue)
        yield "accepted", f"{row.refused} -> {target}", replace(row, refused=None, target=target)
    else:
        for other in declaration.states:
            if other.name != target:
                yield "target", f"{target} -> {other.name}", replace(row, target=other.name)
        for effect in row.effects:
            rest = tuple(one for one in row.effects if one != effect)
            yield "effect", f"without {effect}", replace(row, effects=rest)
        refused = Issue.BAD_PAYLOAD_OR_TRANSITION
        yield "refused", f"{target} -> {refused}", replace(row, refused=refused)
    for guard in row.guards:
        rest = tuple(one for one in row.guards if one != guard)
        yield "guard", f"without {guard}", replace(row, guards=rest)
        turned = guard.removeprefix("not ") if guard.startswith("not ") else f"not {guard}"
        yield "guard", f"{guard} -> {turned}", replace(row, guards=(*rest, turned))


def _changed_step(step: Step) -> Iterator[tuple[str, str, Step]]:
    for issue in (*Issue, None):
        if issue is not step.issue:
            yield "issue", f"{step.issue} -> {issue}", replace(step, issue=issue)
    for counter in ("foreign", "duplicates", None):
        if counter != step.counts:
            yield "counter", f"{step.counts} -> {counter}", replace(step, counts=counter)


@contextmanager
def changed(mutant: TableMutant) -> Iterator[None]:
    """The oracle's tables with the change, for as long as the block lasts."""
    table, key, value = _where(mutant)
    before = table[key]
    table[key] = value
    try:
        yield
    finally:
        table[key] = before


def _where(mutant: TableMutant) -> tuple[dict[Any, Any], Any, Any]:
    if mutant.operator == "shows":
        return oracles.SHOWS, mutant.decided[0], mutant.new
    if mutant.table == ADMISSION:
        return oracles.STEPS_BY_CATCH, mutant.decided[0], mutant.new
    tables: dict[str, dict[Any, Any]] = {
        LIFECYCLE.name: oracles.ROWS,
        TOOL_CALL.name: oracles.CALL_ROWS,
    }
    table = tables[mutant.table]
    rows = list(table[mutant.decided])
    rows[mutant.place] = mutant.new
    return table, mutant.decided, tuple(rows)
