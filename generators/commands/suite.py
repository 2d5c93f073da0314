"""`doneness suite`: the complete suite as data, written anew or run against a subject."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from doneness.generators.subjects import SubjectError, open_subject, own_subjects
from doneness.generators.suite.documents import OBSERVATIONS, write
from doneness.generators.suite.running import load, run, transition_cover


@click.group()
def command() -> None:
    """The complete suite: tests that reveal every fault within a bound."""


@command.command("write")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def write_files(folder: Path) -> None:
    """Write the suite's files into FOLDER, from the declared tables."""
    for path in write(folder):
        click.echo(path)


@command.command("run")
@click.option("--subject", "spec", metavar="SPEC", help="The reducer; our own without this.")
@click.option("--calls", type=click.IntRange(1, 2), default=1, show_default=True)
@click.option(
    "--extra", type=click.IntRange(0, 1), default=0, show_default=True, help="States more."
)
@click.option("--observed", type=click.Choice(OBSERVATIONS), default="snapshot", show_default=True)
@click.option("--cover", is_flag=True, help="Only take each transition once.")
def run_suite(spec: str | None, calls: int, extra: int, observed: str, cover: bool) -> None:
    """Put a subject through the suite; exit status 1 at the first failure."""
    found = load(calls, observed)
    try:
        subject = open_subject(spec) if spec else own_subjects()[0]
    except SubjectError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    words = transition_cover(found) if cover else None
    result = run(found, subject, extra=extra, words=words)
    if result.left_out:
        click.echo(f"left out: {result.left_out} tests with events that the subject does not take")
    if result.failure is None:
        click.echo(f"{subject.name}: passed {result.tests} tests")
        return
    failure = result.failure
    click.echo(f"{subject.name}: failed test {result.tests}: {', then '.join(failure.letters)}")
    if "failure" in failure.shown:
        click.echo(f"   {failure.shown['failure']}")
    for name, expected in failure.expected.items():
        if name in failure.shown and failure.shown[name] != expected:
            click.echo(f"   {name}: expected {expected}, shown {failure.shown[name]}")
    sys.exit(1)
