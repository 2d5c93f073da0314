"""`doneness catalogue`: the wrong reducers, and how each is found."""

from __future__ import annotations

from pathlib import Path

import click

from doneness.generators.catalogue.listing import page
from doneness.generators.commands.output_file import OutputFile


@click.command()
@click.option(
    "--into",
    "path",
    metavar="FILE",
    type=OutputFile(),
    help="Write the page there instead of showing it.",
)
def command(path: Path | None) -> None:
    """Look for every wrong reducer of the catalogue, and make a page of what is found."""
    text = "\n".join(page()) + "\n"
    if path is None:
        click.echo(text, nl=False)
    else:
        path.write_text(text, "utf-8")
