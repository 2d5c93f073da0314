"""The declared tables as one page to read, made from them: `docs/tables.md`.

`python -m doneness.diagrams.tables_page FILE` writes it; a test holds the committed page against
the declarations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from doneness.diagrams.extract import declarations
from doneness.spec.admission import STEPS
from doneness.spec.payloads import SHAPES
from doneness.spec.table import STAYS, Declaration, Row
from doneness.spec.vocabulary import LABELS, Status

_INTRODUCTION: Final = """# The declared tables

Made from `spec` by `make pictures`; do not edit. What the words mean is told in
[the contract](contract.md), and the pictures are explained in [diagrams](diagrams.md)."""


def page() -> str:
    """The whole page, Markdown."""
    parts = [
        _INTRODUCTION,
        "## Payloads",
        _table(("kind", "data, exactly these keys"), _payloads()),
        "## Admission",
        _table(("step", "catches", "issue", "counts", "stops"), _steps()),
        "## Labels",
        _table(("status", "English", "Chinese"), _labels()),
    ]
    for declaration in declarations():
        parts += _machine(declaration)
    return "\n\n".join(parts) + "\n"


def _payloads() -> Iterator[tuple[str, ...]]:
    for kind, shape in SHAPES.items():
        data = ", ".join(f"`{key}`: {form}" for key, form in shape.items())
        yield f"`{kind}`", data or "none"


def _steps() -> Iterator[tuple[str, ...]]:
    for step in STEPS:
        catches = step.catches.replace("_", " ")
        issue = f"`{step.issue}`" if step.issue else ""
        yield str(step.number), catches, issue, step.counts or "", "yes" if step.stops else "no"


def _labels() -> Iterator[tuple[str, ...]]:
    for status in Status:
        yield f"`{status}`", LABELS["en"][status], LABELS["zh"][status]


def _machine(declaration: Declaration) -> Iterator[str]:
    yield f"## {declaration.title}"
    states = (
        (
            f"`{state.name}`",
            state.group,
            f"`{state.shows}`" if state.shows else "",
            "yes" if state.final else "",
            state.meaning,
        )
        for state in declaration.states
    )
    yield _table(("state", "group", "shows", "may rest", "meaning"), states)
    rows = map(_row, declaration.rows)
    yield _table(("on", "in", "to", "if", "does", "why"), rows)
    if declaration.facts:
        yield _table(("fact", "holds when"), _named(declaration.facts.items()))


def _row(row: Row) -> tuple[str, ...]:
    to = f"**refused**: `{row.refused}`" if row.refused else f"`{row.target}`"
    if row.target is STAYS and not row.refused:
        to = "stays"
    guards = " and ".join(row.guards) or ("otherwise" if row.otherwise else "")
    return _codes(row.triggers), _codes(row.sources), to, guards, ", ".join(row.effects), row.why


def _named(items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    return ((f"`{name}`", meaning) for name, meaning in items)


def _codes(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), "utf-8")
