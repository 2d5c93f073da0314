"""The path of a case on the diagram of the lifecycle.

The declaration says where each event leads: the oracle of the checks reads the stream, and its
decisions are the arrows. What never reaches the lifecycle (a duplicate, another run's event, a
broken envelope) is drawn as well, as what it is. Where a case says what a subject showed, the
first step that differs from the declaration is where it left the path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from doneness.diagrams.drawing import Edge, Mark, Node, Shape
from doneness.diagrams.fold import ISSUE
from doneness.diagrams.model import Arrow, Chart
from doneness.diagrams.overlay import Note, Overlay
from doneness.fixtures.cases import EOF, Case
from doneness.generators.classify import Declared, declared

MACHINE = "lifecycle"
"""The machine on which paths are drawn."""

SUBJECT = "subject"
ROWS_MAX = 30
"""A longer case is drawn whole, but its table is cut in the middle."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a case, on the diagram.

    Attributes:
        number: From 1.
        arrow: What was taken.
        after: The state after it.
        status: What the declaration shows after it.
        shown: What the subject showed; None where the case does not say.
        issues: The issues on record after it that were not before.
    """

    number: int
    arrow: Arrow
    after: str
    status: str
    shown: str | None
    issues: tuple[str, ...]

    @property
    def strays(self) -> bool:
        """Whether the subject shows something else than the declaration."""
        return self.shown is not None and self.shown != self.status


def events_of(case: Case) -> tuple[object, ...]:
    """The events of a case, with the end of the connection that a final status implies."""
    if case.expected_final is not None and EOF not in case.events:
        return (*case.events, EOF)
    return case.events


def steps(case: Case) -> tuple[Step, ...]:
    """The steps of a case, as the declaration takes them."""
    said = declared(case.run, events_of(case))
    result = []
    before: Sequence[str] = ()
    for index, one in enumerate(said):
        issues = _issues(one)
        after = said[index + 1].decision.state if index + 1 < len(said) else _after(one)
        result.append(
            Step(
                number=index + 1,
                arrow=_arrow(one, after),
                after=after,
                status=str(one.status),
                shown=case.shown_steps[index] if index < len(case.shown_steps) else None,
                issues=tuple(issue for issue in issues if issue not in before),
            )
        )
        before = issues
    return tuple(result)


def _issues(one: Declared) -> tuple[str, ...]:
    issues = one.observables["issues"]
    return tuple(map(str, issues)) if isinstance(issues, list | tuple) else ()


def _after(one: Declared) -> str:
    row = one.decision.row
    return one.decision.state if row is None or row.target is None else str(row.target)


def _arrow(one: Declared, after: str) -> Arrow:
    """The arrow that an event took; one of its own where it does not reach the lifecycle."""
    decision = one.decision
    if decision.row is not None:
        row = decision.row
        return Arrow(
            source=str(decision.state),
            trigger=str(decision.trigger),
            target=after,
            guards=tuple(row.guards),
            effects=tuple(row.effects),
            refused=None if row.refused is None else str(row.refused),
            otherwise=row.otherwise,
        )
    step = decision.step
    issue = None if step is None or step.issue is None else str(step.issue)
    caught = "" if step is None else step.catches.replace("_", " ")
    return Arrow(str(decision.state), caught, str(decision.state), refused=issue)


def walked(chart: Chart, case: Case) -> tuple[Chart, Overlay]:
    """The chart with the arrows that a case takes, and what is drawn on top of it."""
    taken = steps(case)
    strayed = next((step for step in taken if step.strays), None)
    numbers: dict[Arrow, list[int]] = {}
    for step in taken:
        numbers.setdefault(step.arrow, []).append(step.number)
    extra = tuple(arrow for arrow in numbers if arrow not in chart.arrows)
    chart = Chart(
        chart.name,
        f"{chart.title}: {printable(case.name)}",
        chart.initial,
        chart.places,
        chart.triggers + tuple(dict.fromkeys(arrow.trigger for arrow in extra)),
        chart.arrows + extra,
        chart.main_line,
        chart.facts,
    )
    notes = {
        arrow: Note(Mark.WALKED, words=f"{_ranges(at)}: ", order=at[0])
        for arrow, at in numbers.items()
    }
    visited = {chart.initial, *(step.after for step in taken)}
    if any(arrow.refused for arrow in numbers):
        visited.add(ISSUE)
    return chart, Overlay(
        notes=notes,
        rest=Note(pale=True),
        marks=dict.fromkeys(visited, Mark.WALKED),
        pale=True,
        nodes=() if strayed is None else (_subject(strayed),),
        edges=() if strayed is None else (_stray(strayed),),
        legend=tuple(_legend(strayed)),
        table=tuple(_table(taken, strayed)),
    )


def _subject(step: Step) -> Node:
    return Node(
        SUBJECT,
        "✗ the subject",
        shows=printable(str(step.shown)),
        within=(f"declared: {step.status}",),
        shape=Shape.SUBJECT,
        mark=Mark.LEFT,
    )


def _stray(step: Step) -> Edge:
    phrase = f"✗ {step.number}: {step.arrow.trigger}"
    return Edge(step.arrow.source, SUBJECT, (phrase,), mark=Mark.LEFT, width=1.8)


def _legend(strayed: Step | None) -> Iterator[str]:
    yield (
        "Numbers: the steps of the case, in order; strong lines and boxes: its path. Pale: the "
        "rest of the machine, without what moves nothing or is refused."
    )
    if strayed is not None:
        yield (
            f"✗: at step {strayed.number} the subject left the path: it shows "
            f"{printable(str(strayed.shown))}, declared is {strayed.status}."
        )


def _table(taken: Sequence[Step], strayed: Step | None) -> Iterator[tuple[str, ...]]:
    """A header and a row for each step; a column that would be empty is left out."""
    columns = {
        "#": [str(step.number) for step in taken],
        "event": [step.arrow.trigger for step in taken],
        "state": [step.after for step in taken],
        "status": [step.status for step in taken],
        "subject": [_shown(step, strayed) for step in taken],
        "issue": [", ".join(step.issues) for step in taken],
    }
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    yield tuple(columns)
    rows = list(zip(*columns.values(), strict=True))
    if len(rows) > ROWS_MAX:
        half = ROWS_MAX // 2
        gap = ("…", f"{len(rows) - 2 * half} more", *[""] * (len(columns) - 2))
        rows = [*rows[:half], gap, *rows[-half:]]
    yield from rows


def _shown(step: Step, strayed: Step | None) -> str:
    return ("✗ " if step is strayed else "") + printable(step.shown or "")


def _ranges(numbers: Sequence[int]) -> str:
    """`1-3, 7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def printable(text: str, characters_max: int = 60) -> str:
    """Text from a file, with whatever cannot be seen made visible."""
    seen = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
    return seen if len(seen) <= characters_max else f"{seen[: characters_max - 1]}…"
