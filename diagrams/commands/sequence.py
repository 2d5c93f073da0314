"""`doneness sequence`: a case as a sequence picture."""

from __future__ import annotations

import click

from doneness.diagrams import sequence
from doneness.diagrams.commands.cases import chosen_case
from doneness.diagrams.commands.output import Sources, Writer, writing


@click.command()
@click.argument("case")
@writing("svg", "mermaid")
def command(case: str, *, writer: Writer) -> None:
    """Draw who tells whom what in CASE: host, transport, reducer, view.

    CASE is the name of one of the project's cases, or a file: a case, or a divergence that a
    check left behind. The picture comes as SVG or Mermaid, and needs no Graphviz.
    """
    chosen = chosen_case(case)
    writer.write(
        Sources(
            mermaid=lambda: sequence.mermaid(chosen),
            svg=lambda theme: sequence.svg(chosen, theme),
        ),
        chosen.name,
    )
