"""The same for the declaration: every decision of the declared tables, changed, must be noticed.

A changed table that no stream tells from the right one would be a rule that means nothing. From
the places where the changed row decides, the declaration and the machine go on side by side; the
first event after which the machine shows something else than the changed declaration kills it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from doneness.generators import oracle as oracles
from doneness.generators.exploration import LAYERS, RUN, agrees
from doneness.generators.moves import TEMPLATES, Template
from doneness.generators.mutants.recording import record
from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES, Oracle
from doneness.generators.subject import forked
from doneness.machine import Progress
from doneness.spec.admission import STEPS, Step
from doneness.spec.lifecycle import LIFECYCLE
from doneness.spec.table import Declaration, Row
from doneness.spec.toolcall import TOOL_CALL
from doneness.spec.vocabulary import Issue, Status

FURTHER_MAX: Final = 2
"""How many events after the changed decision a difference is looked for."""

STREAMS_MAX: Final = 2
"""How many shortest streams are tried for each decision and the facts that it was made on."""


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
    for declaration in (LIFECYCLE, TOOL_CALL):
        for state in declaration.states:
            for trigger in declaration.triggers:
                for place, row in enumerate(declaration.rows_for(state.name, trigger)):
                    for operator, change, new in _changed_row(declaration, state.name, row):
                        yield TableMutant(
                            declaration.name, (state.name, trigger), operator, change, new, place
                        )
            for status in Status:
                if state.shows not in (None, status):
                    change = f"{state.shows} -> {status}"
                    yield TableMutant(declaration.name, (state.name,), "shows", change, status)
    for step in STEPS:
        for operator, change, other in _changed_step(step):
            yield TableMutant("admission", (step.catches,), operator, change, other)


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


def judge_table(mutant: TableMutant) -> int | None:
    """How many events tell the changed table from the right one; None where none do."""
    with _changed(mutant):
        found = (_fewest(stream) for stream in _streams()[mutant.decided])
        return next((events for events in found if events is not None), None)


def _fewest(stream: Sequence[Template]) -> int | None:
    """Go on from the end of a stream, breadth first, to the first difference."""
    oracle, progress = Oracle(RUN), Progress(RUN)
    try:
        for number, move in enumerate(_taken(oracle, stream), 1):
            _feed(progress, move.event)
            if _differ(oracle, progress):
                return number
        frontier = [(oracle, progress)]
        for further in range(1, FURTHER_MAX + 1):
            reached = []
            for one, other in frontier:
                for template in _ALPHABET:
                    oracle, progress = one.fork(), forked(other)
                    for move in _taken(oracle, [template]):
                        _feed(progress, move.event)
                        if _differ(oracle, progress):
                            return len(stream) + further
                        reached.append((oracle, progress))
            frontier = reached
    except LookupError:  # nobody decides this any more: noticed before any event is fed
        return len(stream)
    return None


_ALPHABET: Final = [template for template in TEMPLATES if LAYERS[0].picks(template)]


def _taken(oracle: Oracle, templates: Sequence[Template]) -> Iterator[Any]:
    for template in templates:
        move = template.make(oracle)
        if move is not None:
            oracle.take(move)
            yield move


def _feed(progress: Progress, event: object) -> None:
    if event is END_OF_TRANSPORT:
        progress.close_transport()
    else:
        progress.feed(event)


def _differ(oracle: Oracle, progress: Progress) -> bool:
    shown = {name: getattr(progress, name) for name in OBSERVABLES}
    return not agrees(oracle.observables(), shown)


@cache
def _streams() -> Mapping[tuple[str, ...], Sequence[Sequence[Template]]]:
    """The shortest streams that end with each decision, for each combination of its facts."""
    found: dict[tuple[str, ...], Counter[object]] = defaultdict(Counter)
    streams: dict[tuple[str, ...], list[Sequence[Template]]] = defaultdict(list)
    for layer in LAYERS[:2]:
        recording = record(layer, as_bytes=False)
        for place, edge in enumerate(recording.edges):
            for decided in edge.decisions:
                if found[decided][edge.facts] < STREAMS_MAX:
                    found[decided][edge.facts] += 1
                    streams[decided].append(recording.stream(place))
    return {decided: sorted(several, key=len) for decided, several in streams.items()}


@contextmanager
def _changed(mutant: TableMutant) -> Iterator[None]:
    """The oracle's tables with the change, for as long as the block lasts."""
    with _put(*_where(mutant)):
        yield


def _where(mutant: TableMutant) -> tuple[dict[Any, Any], Any, Any]:
    if mutant.operator == "shows":
        return oracles.SHOWS, mutant.decided[0], mutant.new
    if mutant.table == "admission":
        return oracles.STEPS_BY_CATCH, mutant.decided[0], mutant.new
    table: dict[Any, Any] = oracles.ROWS if mutant.table == LIFECYCLE.name else oracles.CALL_ROWS
    rows = list(table[mutant.decided])
    rows[mutant.place] = mutant.new
    return table, mutant.decided, tuple(rows)


@contextmanager
def _put(table: dict[Any, Any], key: Any, value: Any) -> Iterator[None]:
    before = table[key]
    table[key] = value
    try:
        yield
    finally:
        table[key] = before
