"""From the declarations of `doneness.spec` to charts.

Every module of `spec` is read, so a machine that is declared tomorrow has its picture tomorrow.
Run as a program, this writes all charts as one JSON object: that is how `--diff` reads the
declarations of another revision, in a process of its own.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator

import msgspec

import doneness.spec
from doneness.diagrams.model import Arrow, Chart, Place
from doneness.spec.table import STAYS, Declaration


def chart_of(declaration: Declaration) -> Chart:
    """The chart of a declaration in the form of `spec.table`."""
    return Chart(
        name=declaration.name,
        title=declaration.title,
        initial=str(declaration.initial),
        places=tuple(
            Place(
                name=str(state.name),
                group=state.group,
                meaning=state.meaning,
                shows=None if state.shows is None else str(state.shows),
                final=state.final,
            )
            for state in declaration.states
        ),
        triggers=tuple(map(str, declaration.triggers)),
        arrows=tuple(_arrows(declaration)),
        main_line=tuple(map(str, declaration.main_line)),
        facts=dict(declaration.facts),
    )


def _arrows(declaration: Declaration) -> Iterator[Arrow]:
    for state in declaration.states:
        for trigger in declaration.triggers:
            for row in declaration.rows_for(state.name, trigger):
                yield Arrow(
                    source=str(state.name),
                    trigger=str(trigger),
                    target=str(state.name if row.target is STAYS else row.target),
                    guards=tuple(row.guards),
                    effects=tuple(row.effects),
                    refused=None if row.refused is None else str(row.refused),
                    otherwise=row.otherwise,
                )


def declarations() -> Iterator[Declaration]:
    """Every declaration in `doneness.spec`, each once, in the order of the modules' names."""
    seen: set[str] = set()
    for module in pkgutil.iter_modules(doneness.spec.__path__):
        content = vars(importlib.import_module(f"doneness.spec.{module.name}"))
        for value in content.values():
            if isinstance(value, Declaration) and value.name not in seen:
                seen.add(value.name)
                yield value


def charts() -> dict[str, Chart]:
    """Every declared machine, by name."""
    return {declaration.name: chart_of(declaration) for declaration in declarations()}


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(charts()))
