"""`doneness diagram`: the declared machines as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

from doneness.diagrams import dot, mermaid
from doneness.diagrams.commands.output import Sources, Trouble, Writer, writing
from doneness.diagrams.drawing import Drawing
from doneness.diagrams.extract import charts
from doneness.diagrams.fold import fold
from doneness.diagrams.model import Chart


@click.command()
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="Also what moves nothing, and what is refused.")
@writing
def command(name: str | None, *, full: bool, writer: Writer) -> None:
    """Draw the declared machine NAME; without NAME, list the machines.

    Without NAME, but with a form or an output, all of them are drawn. SVG and PNG are drawn by
    Graphviz: a real dot, or the package graphviz-pure (pip install 'doneness[pictures]').
    """
    known = charts()
    if name is None and writer.form is None and writer.output is None:
        click.echo(_listed(known.values()))
    elif name is None:
        writer.write_all(
            {chart.name: _sources([fold(chart, full=full)], full) for chart in known.values()}
        )
    else:
        writer.write(_sources([fold(_chosen(known, name), full=full)], full))


def _sources(drawings: Sequence[Drawing], full: bool) -> Sources:
    return Sources(
        mermaid=lambda: mermaid.source(drawings),
        dot=lambda theme: dot.source(drawings, theme, hints=not full),
    )


def _chosen(known: Mapping[str, Chart], name: str) -> Chart:
    if name not in known:
        raise Trouble(f"no machine is called {name!r}; there are: {', '.join(known)}")
    return known[name]


def _listed(known: Iterable[Chart]) -> str:
    """A table of the machines."""
    rows = [("NAME", "STATES", "TRIGGERS", "TITLE")]
    rows += [
        (chart.name, str(len(chart.places)), str(len(chart.triggers)), chart.title)
        for chart in known
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
