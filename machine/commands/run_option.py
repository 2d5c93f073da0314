"""The option `--run`: a run that a reducer can be bound to, or one clear line."""

from __future__ import annotations

import click

from doneness.machine.reducer import Progress


def run_to_bind(
    _context: click.Context, _parameter: click.Parameter, run: str | None
) -> str | None:
    """What `--run` names, once it is sure that a reducer can be bound to it."""
    try:
        return run if run is None else Progress(run).run
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
