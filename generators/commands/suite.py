"""`doneness suite`: the complete suite as data; written, unfolded, run, proven."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import click

from doneness.generators.commands.output_file import OutputFile
from doneness.generators.subjects import SubjectError, open_subject, own_subjects
from doneness.generators.suite.documents import OBSERVATIONS, machine_of, write
from doneness.generators.suite.families import FAMILIES
from doneness.generators.suite.faults import judge_all, table
from doneness.generators.suite.faulty import trial
from doneness.generators.suite.machines import suite_words
from doneness.generators.suite.running import Result, load, run, transition_cover
from doneness.generators.suite.unfolding import EXTRA_MAX, SUMS, recorded, sums_text, unfold


@click.group()
def command() -> None:
    """The complete suite: tests that reveal every fault within a bound."""


def _which(function: Callable[..., None]) -> Callable[..., None]:
    """The options that name one suite."""
    options: list[Any] = [
        click.option("--calls", type=click.IntRange(1, 2), default=1, show_default=True),
        click.option(
            "--extra",
            type=click.IntRange(0, EXTRA_MAX),
            default=0,
            show_default=True,
            help="How many states more than the declaration's are allowed.",
        ),
        click.option(
            "--observed", type=click.Choice(OBSERVATIONS), default="snapshot", show_default=True
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@command.command("write")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def write_files(folder: Path) -> None:
    """Write the suite's files into FOLDER, from the declared tables, and what they add up to."""
    for path in write(folder):
        click.echo(path)
    (folder / SUMS).write_text(sums_text(), "utf-8")
    click.echo(folder / SUMS)


@command.command("unfold")
@_which
@click.option(
    "--output",
    type=OutputFile(),
    help="The file to write; without it only the sum is checked.",
)
def unfold_one(calls: int, extra: int, observed: str, output: Path | None) -> None:
    """Write one suite test by test, as JSON Lines; exit status 1 if it is not the one on record."""
    found = load(calls, observed)
    with output.open("wb") if output else nullcontext() as file:
        made = unfold(found, extra, file.write if file else lambda _line: None)
    click.echo(
        f"{made['tests']:,} tests, {made['events']:,} events, {made['bytes']:,} bytes, "
        f"SHA-256 {made['sha256']}"
    )
    if made not in recorded():
        click.echo(f"Error: this is not what {SUMS} has on record", err=True)
        sys.exit(1)


@command.command("run")
@click.option("--subject", "spec", metavar="SPEC", help="The reducer; our own without this.")
@_which
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
    try:
        result = run(found, subject, extra=extra, words=words)
    finally:
        subject.close()
    for line in _told(subject.name, result):
        click.echo(line)
    sys.exit(0 if result.failure is None else 1)


@command.command("prove")
@click.option("--machines", type=click.IntRange(1), default=200, show_default=True)
@click.option("--seed", type=int, default=5, show_default=True)
def prove(machines: int, seed: int) -> None:
    """Put faulty machines through each suite: within its bound none may escape.

    Those with one state more than the bound show that the bound is needed. Exit status 1 if one
    escapes that must not.
    """
    escaped = 0
    click.echo(_row("calls", "observed", "m", "tests", "faulty", "escaped", "beyond m", "escaped"))
    for calls, observed, extra in product((1, 2), OBSERVATIONS, range(EXTRA_MAX + 1)):
        machine, cover, identifiers = machine_of(load(calls, observed))
        words = list(suite_words(machine, cover, identifiers, extra))
        within, beyond = (
            trial(machine, words, larger, machines, seed) for larger in (extra, extra + 1)
        )
        escaped += within.escaped
        cells = (within.tests, machines, within.escaped, machines, beyond.escaped)
        click.echo(_row(calls, observed, extra, *(f"{cell:,}" for cell in cells)))
    sys.exit(1 if escaped else 0)


@command.command("faults")
@click.option("--every", type=click.IntRange(1), default=1, help="Judge one fault in so many.")
@click.option("--quick", is_flag=True, help="Leave out the suites for m = 1.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, help="Processes.")
@click.option("--largest", is_flag=True, help="Ask the large suites about every fault; hours.")
@click.option("--list", "listed", is_flag=True, help="Name the faults that no family finds, too.")
def faults(every: int, quick: bool, jobs: int, largest: bool, listed: bool) -> None:
    """Print how many seeded faults each family of tests finds, as a table in Markdown."""
    families = [family for family in FAMILIES if not (quick and family.extra)]

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{done} of {total}", nl=done == total, err=True)

    try:
        judged = judge_all(families, every=every, jobs=jobs, largest=largest, done=progress)
    except ValueError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    for line in table(judged, families):
        click.echo(line)
    for one in judged:
        if listed and not one.found_by:
            click.echo(f"not found: {one.key}")


def _row(*cells: object) -> str:
    return "".join(str(cell).rjust(10) for cell in cells)


def _told(name: str, result: Result) -> list[str]:
    lines = []
    if result.left_out:
        lines.append(
            f"left out: {result.left_out} tests with events that the subject does not take"
        )
    failure = result.failure
    if failure is None:
        return [*lines, f"{name}: passed {result.tests:,} tests, {result.events:,} events"]
    led_there = ", then ".join(failure.letters) or "nothing fed"
    lines.append(f"{name}: failed test {result.tests:,}: {led_there}")
    if "failure" in failure.shown:
        lines.append(f"   {failure.shown['failure']}")
    lines += (
        f"   {key}: expected {expected}, shown {failure.shown[key]}"
        for key, expected in failure.expected.items()
        if key in failure.shown and failure.shown[key] != expected
    )
    return lines
