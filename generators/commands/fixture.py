"""`doneness fixture`: keep a stream as a case, list, run and drop kept cases."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from shlex import quote

import click

from doneness.fixtures.cases import Case, CaseError, every, load
from doneness.generators.keeping import Keeping, columns, in_folder, project_folder, stale, tried
from doneness.generators.subject import Subject, own_subjects
from doneness.generators.subjects.opening import SubjectError, open_subject
from doneness.generators.subjects.options import OptionError, read_statuses
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
        if reason is not None and reason.strip() in ("…", "..."):
            expected = "expected why the case is kept, in one line; put it in place of the dots"
            raise CaseError("--reason", f"{expected}, got {reason.strip()}")
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
                f"{len(case.events)} event{'s' * (len(case.events) != 1)}",
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
@click.argument("what", metavar="[NAME | FILE | DIR | all]", default="all")
@_IN
@click.option(
    "--subject",
    "specs",
    metavar="SPEC",
    multiple=True,
    help="A reducer to run it on, instead of the project's own; as for doneness check.",
)
@click.option(
    "--status-map",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON: the subject's own status names to ours.",
)
def run(what: str, folder: Path | None, specs: tuple[str, ...], status_map: Path | None) -> None:
    """Run a kept or found case again, or all of a folder; by default all that are kept.

    Each answers FIXED (what is declared is shown), FAILED (something else is shown, or the case
    expects what the declaration no longer says) or ERROR (the reducer gave no answer).

    Exit status: 0 if all are fixed; 1 otherwise; 2 if there is no such case or no such reducer.
    """
    with _answering() as write, _subjects(specs, status_map) as subjects:
        cases = _some(folder) if what == "all" and folder else _chosen(what, folder)
        answers = [_again(case, subjects, write) for case in cases]
        if len(cases) != 1:
            counts = ", ".join(f"{answers.count(answer)} {answer}" for answer in Answer)
            write([f"{len(cases)} cases: {counts}"])
    sys.exit(0 if set(answers) <= {Answer.FIXED} else 1)


class Answer(StrEnum):
    """What a case that is run again answers."""

    FIXED = "FIXED"
    FAILED = "FAILED"
    ERROR = "ERROR"


def _again(case: Case, subjects: Sequence[Subject], write: Write) -> Answer:
    outdated = stale(case)
    differences = [found for subject in subjects if (found := tried(case, subject))]
    answer = Answer.FIXED
    if any("failure" in found.lines[-1].shown for found in differences):
        answer = Answer.ERROR
    elif outdated or differences:
        answer = Answer.FAILED
    write([f"{answer:<6}  {visible(case.name)}"])
    write(visible(line) for line in outdated)
    for found in differences:
        write([visible(found.subject), *map(visible, found.table().split("\n"))])
    found_file = Path(case.file)
    if answer is Answer.FIXED and case.shown_steps and not case.reason and found_file.is_file():
        file = visible(quote(case.file))
        write([f"        keep it    doneness fixture keep {file} --reason '…'"])
        write([f"        remove it  rm {file}"])
    return answer


@contextmanager
def _subjects(specs: Sequence[str], status_map: Path | None) -> Iterator[Sequence[Subject]]:
    """The reducers to run a case on; programs are ended when all is done.

    Raises:
        CaseError: there is no such reducer, or the status map is none.
    """
    if not specs:
        if status_map is not None:
            raise CaseError(str(status_map), "a status map is of a subject; name one (--subject)")
        yield own_subjects()
        return
    with ExitStack() as opened:
        subjects = []
        for spec in specs:
            try:
                statuses = read_statuses(status_map) if status_map else None
                subjects.append(open_subject(spec, statuses=statuses))
            except (OptionError, SubjectError) as error:
                raise CaseError(spec, str(error)) from None
            opened.callback(subjects[-1].close)
        yield subjects


def _chosen(what: str, folder: Path | None) -> list[Case]:
    if what == "all":
        return _kept(folder)
    named = [case for case in (*every(), *_kept(folder)) if case.name == what][:1]
    if named:
        return named
    path = Path(what)
    if path.is_dir():
        return _some(path)
    if path.is_file():
        return load(path)
    raise CaseError(what, "no case of this name, and no such file; try `doneness fixture list`")


def _some(folder: Path) -> list[Case]:
    cases = _kept(folder)
    if not cases:
        raise CaseError(str(folder), "holds no case, so there is nothing to run")
    return cases


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
