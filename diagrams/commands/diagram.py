"""`doneness diagram`: the declared machines as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click

from doneness.diagrams import coverage, difference, dot, mermaid, path
from doneness.diagrams.commands.cases import chosen_case
from doneness.diagrams.commands.output import FORMATS, Sources, Trouble, Writer, writing
from doneness.diagrams.drawing import Drawing
from doneness.diagrams.extract import charts
from doneness.diagrams.fold import fold
from doneness.diagrams.model import Chart


@click.command()
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="Also what moves nothing, and what is refused.")
@click.option(
    "--diff",
    "revision",
    metavar="REV",
    help="Mark what was added, removed or changed since a revision of git.",
)
@click.option(
    "--path",
    "case",
    metavar="CASE",
    help="Number the steps of a case: the name of one of the project's, or a file.",
)
@click.option(
    "--coverage",
    "counts",
    metavar="[FILE]",
    is_flag=False,
    flag_value=coverage.FILE,
    type=click.Path(path_type=Path),
    help=f"How often each was exercised; default: {coverage.FILE}.",
)
@writing(*FORMATS)
def command(
    name: str | None,
    *,
    full: bool,
    revision: str | None,
    case: str | None,
    counts: Path | None,
    writer: Writer,
) -> None:
    """Draw the declared machine NAME; without NAME, list the machines.

    Without NAME, but with a form or an output, all of them are drawn. SVG and PNG are drawn by
    Graphviz: a real dot, or the package graphviz-pure (pip install 'doneness[pictures]').
    """
    if sum(option is not None for option in (revision, case, counts)) > 1:
        raise Trouble("--diff, --path and --coverage each make a picture of their own: choose one")
    known = charts()
    if revision is not None:
        writer.write(_sources(_changed(known, name, revision, full=full), hints=False))
    elif case is not None:
        writer.write(_sources([_walked(known, name, case, full=full)], hints=False))
    elif counts is not None:
        _draw(_exercised(known, name, counts, full=full), name, writer, hints=not full)
    elif name is None and writer.form is None and writer.output is None:
        click.echo(_listed(known.values()))
    else:
        drawn = known.values() if name is None else _machines(known, name)
        _draw([fold(chart, full=full) for chart in drawn], name, writer, hints=not full)


def _draw(drawings: Sequence[Drawing], name: str | None, writer: Writer, *, hints: bool) -> None:
    sources = {drawing.name: _sources([drawing], hints=hints) for drawing in drawings}
    if name is None and not writer.is_one_file():
        writer.write_all(sources)
    elif len(drawings) == 1:
        writer.write(next(iter(sources.values())), next(iter(sources)))
    else:
        writer.write(_sources(drawings, hints=False))


def _sources(drawings: Sequence[Drawing], *, hints: bool) -> Sources:
    return Sources(
        mermaid=lambda: mermaid.source(drawings),
        dot=lambda theme: dot.source(drawings, theme, hints=hints),
    )


def _machines(known: Mapping[str, Chart], name: str) -> list[Chart]:
    """The machine of that name; or those of the part of that name, `framing_…`."""
    part = [chart for other, chart in known.items() if other.startswith(f"{name}_")]
    if name in known:
        return [known[name]]
    if not part:
        raise Trouble(f"no machine is called {name!r}; there are: {', '.join(known)}")
    return part


def _changed(
    known: Mapping[str, Chart], name: str | None, revision: str, *, full: bool
) -> list[Drawing]:
    """The machines that differ; one that does not, if it was asked for or none does."""
    try:
        before = difference.charts_of(revision)
    except difference.RevisionError as error:
        raise Trouble(str(error)) from error
    both = {**before, **known}
    named = list(both) if name is None else [chart.name for chart in _machines(both, name)]
    found = {each: difference.compare(before.get(each), known.get(each)) for each in named}
    changed = {each: one for each, one in found.items() if one} or found
    if not any(found.values()):
        click.echo(f"nothing that is declared differs from {revision}", err=True)
    return [fold(one.chart, one.overlay(revision), full=full) for one in changed.values()]


def _walked(known: Mapping[str, Chart], name: str | None, case: str, *, full: bool) -> Drawing:
    if name not in {None, path.MACHINE}:
        _machines(known, str(name))
        raise Trouble(f"a case is a path of {path.MACHINE}, not of {name}")
    chart, overlay = path.walked(known[path.MACHINE], chosen_case(case))
    return fold(chart, overlay, full=full)


def _exercised(
    known: Mapping[str, Chart], name: str | None, file: Path, *, full: bool
) -> list[Drawing]:
    try:
        counts = coverage.read(file)
        named = known.values() if name is None else _machines(known, name)
        drawn = [chart for chart in named if chart.name in counts]
        if not drawn:
            there = ", ".join(counts) or "nothing"
            raise Trouble(f"{file} says nothing of {name or 'any machine'}; it speaks of {there}")
        return [
            fold(chart, coverage.exercised(chart, counts[chart.name]), full=full) for chart in drawn
        ]
    except coverage.CoverageError as error:
        raise Trouble(str(error)) from error


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
