"""`doneness mutants`: seeded faults, each judged by the checks."""

from __future__ import annotations

import os
import sys

import click

from doneness.generators.mutants.campaign import TABLES, run
from doneness.generators.mutants.loading import MODULES
from doneness.generators.mutants.recording import RedBaselineError


@click.command()
@click.argument("modules", nargs=-1, type=click.Choice([*MODULES, TABLES]))
@click.option("--sample", type=click.IntRange(1), help="So many changes of code, and all tables.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which sample.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, help="Processes.")
def command(modules: tuple[str, ...], sample: int | None, seed: int, jobs: int) -> None:
    """Change the machine and the declared tables, one thing at a time; all must be noticed.

    Without MODULES everything is changed. Exit status 1 if a change survives that is not shown
    equivalent, or an entry of equivalent.json is stale.
    """

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{done} of {total}", nl=done == total, err=True)

    try:
        report = run(
            modules or (*MODULES, TABLES), sample=sample, seed=seed, jobs=jobs, done=progress
        )
    except RedBaselineError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    for line in report.lines():
        click.echo(line)
    sys.exit(1 if report.survivors or report.stale or report.long else 0)
