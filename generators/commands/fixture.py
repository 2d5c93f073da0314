"""`doneness fixture`: keep a stream as a case, list, run and drop kept cases."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from doneness.fixtures.cases import Case, CaseError, every, load
from doneness.generators.keeping import Keeping, columns, in_folder, project_folder, stale, tried
from doneness.generators.subject import own_subjects
from doneness.machine.replaying.output import Write, lines_out
from doneness.machine.visible import visible

_IN = click.option(
    "--in",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of kept cases, where it is not the project's own.",
)


@click.group()
def command() -> None:
    """Keep streams as cases, that the ordinary tests replay for ever."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", help="The case's name, if not the one in the file.")
@click.option("--reason", help="Why it is kept, in one line, if the file does not say.")
@click.option(
    "--into",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where to; needed unless the project is used from its sources.",
)
def keep(file: Path, name: str | None, reason: str | None, folder: Path | None) -> None:
    """Keep the case of FILE, with the statuses that the declaration expects.

    They are shown as a numbered table: read it before you commit the case.
    """
    with _answering() as write:
        found = load(file)
        if len(found) != 1:
            raise CaseError(str(file), f"expected one case, got {len(found)}: keep them one by one")
        keeping = Keeping.of(found[0], name, reason)
        place = folder or project_folder()
        if place is None:
            raise CaseError(
                str(file),
                "this is an installed package, with no folder to keep cases in: name one (--into)",
            )
        path = keeping.write(place)
        write([visible(f"{keeping.name}: {keeping.reason}"), keeping.table(), ""])
        again = keeping.name if folder is None else visible(str(path))
        write([f"kept   {visible(str(path))}", f"again  doneness fixture run {again}"])


@command.command("list")
@_IN
def list_(folder: Path | None) -> None:
    """List the kept cases: name, length, what they end in, reason."""
    with _answering() as write:
        cases = _kept(folder)
        rows = [
            (
                visible(case.name),
                f"{len(case.events)} events",
                case.expected_final or "?",
                visible(case.reason, 100),
            )
            for case in cases
        ]
        write([columns(rows) if rows else "no case is kept"])


@command.command()
@click.argument("name")
@_IN
def drop(name: str, folder: Path | None) -> None:
    """Remove the kept case NAME."""
    with _answering() as write:
        place = folder or project_folder()
        if place is None:
            raise CaseError(name, "this is an installed package: name the folder (--in)")
        path = place / f"{name}.json"
        if not path.is_file() or path.parent.resolve() != place.resolve():
            raise CaseError(name, "no kept case of this name; `doneness fixture list` shows them")
        path.unlink()
        write([f"dropped  {visible(str(path))}"])


@command.command()
@click.argument("what", metavar="[NAME | FILE | all]", default="all")
@_IN
def run(what: str, folder: Path | None) -> None:
    """Run one kept case again, or all: against the declaration, and on the reducer.

    Exit status: 0 if all is well; 1 if a case fails, or expects what the declaration no longer
    says; 2 if there is no such case.
    """
    with _answering() as write:
        cases = _chosen(what, folder)
        failed = sum(not _is_well(case, write) for case in cases)
        write([f"{len(cases)} cases, {failed} failed"] if len(cases) != 1 else [])
    sys.exit(1 if failed else 0)


def _is_well(case: Case, write: Write) -> bool:
    outdated = stale(case)
    differences = [found for subject in own_subjects() if (found := tried(case, subject))]
    write([f"{'FAILED' if outdated or differences else 'ok'}  {visible(case.name)}"])
    write(visible(line) for line in outdated)
    for found in differences:
        write([found.subject, found.table()])
    return not (outdated or differences)


def _chosen(what: str, folder: Path | None) -> list[Case]:
    if what == "all":
        return _kept(folder)
    named = [case for case in (*every(), *_kept(folder)) if case.name == what][:1]
    if named:
        return named
    path = Path(what)
    if path.is_file():
        return load(path)
    raise CaseError(what, "no case of this name, and no such file; try `doneness fixture list`")


def _kept(folder: Path | None) -> list[Case]:
    if folder is None:
        return list(every(("kept",)))
    if not folder.is_dir():
        raise CaseError(str(folder), "no such folder")
    return in_folder(folder)


@contextmanager
def _answering() -> Iterator[Write]:
    """Standard output; and one line on standard error, with exit status 2, for a bad input."""
    try:
        with lines_out() as write:
            yield write
    except CaseError as error:
        click.echo(f"Error: {visible(str(error))}".encode(), err=True)
        sys.exit(2)
