"""`doneness replay`: what the reducer shows of a recorded stream, event by event."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, cast

import click

from doneness.fixtures.cases import Case, CaseError, every
from doneness.machine.adapters.capture import ADAPTERS
from doneness.machine.commands.run_option import run_to_bind
from doneness.machine.replaying.captures import of_capture
from doneness.machine.replaying.output import Write, lines_out
from doneness.machine.replaying.recordings import Recording, of_case, of_file, shown_error
from doneness.machine.replaying.steps import replayed
from doneness.machine.replaying.views import JSONLines, Table, View
from doneness.spec.vocabulary import LABELS, Language

Reader: TypeAlias = Callable[[BinaryIO, str, str | None], Iterator[Recording]]
"""Reads a binary stream, with its name and the run to bind, into recordings."""

ENVELOPES: Final = "envelopes"
FORMATS: Final[dict[str, Reader]] = {
    ENVELOPES: of_file,
    **{format_: of_capture(format_) for format_ in sorted(ADAPTERS)},
}
"""What a file may hold, by the name that `--from` gives it."""


@click.command()
@click.argument("what", metavar="[NAME | FILE | all]", default="all")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a step.")
@click.option(
    "--language",
    type=click.Choice(sorted(LABELS)),
    default="zh",
    show_default=True,
    help="Of the labels.",
)
@click.option(
    "--from",
    "format_",
    type=click.Choice(list(FORMATS)),
    default=ENVELOPES,
    show_default=True,
    help="What a file or standard input holds: envelopes, or a captured stream of this format.",
)
@click.option(
    "--run",
    callback=run_to_bind,
    help="Bind a log to this run, not to that of its first envelope.",
)
@click.pass_context
def command(
    context: click.Context, what: str, as_json: bool, language: str, format_: str, run: str | None
) -> None:
    """Print each event, the status and its label, EOF, and the issues.

    NAME is that of a case of the project, `all` is all of them. FILE holds a case, an array of
    cases, or a log of envelopes as JSON Lines; `-` is standard input, replayed as it arrives.
    With --from, it is a file with a captured stream: server-sent events, or the events as JSON,
    in an array or one a line.

    Exit status: 0; 1 if a case shows another status than it expects; 2 if the input is bad.
    """
    view: View = JSONLines() if as_json else Table()
    recordings = 0
    surprises = 0
    try:
        with lines_out() as write:
            for recording in _recordings(what, format_, run):
                recordings += 1
                surprises += not _print(recording, view, cast("Language", language), write)
            if what == "all" and not as_json:
                write([f"{recordings} cases, {surprises} not as expected"])
    except CaseError as error:
        click.echo(f"Error: {shown_error(error)}".encode(), err=True)
        context.exit(2)
    context.exit(1 if surprises else 0)


def _print(recording: Recording, view: View, language: Language, write: Write) -> bool:
    """Print one recording; whether it showed what it expects."""
    write(view.opening(recording))
    as_expected = True
    step = None
    for step in replayed(recording, language):
        as_expected &= step.is_as_expected
        write([view.line(recording, step)])
    if step is not None:
        write(view.closing(recording, step))
    return as_expected


def _recordings(what: str, format_: str, run: str | None) -> Iterator[Recording]:
    if what == "-":
        yield from FORMATS[format_](sys.stdin.buffer, "standard input", run)
        return
    cases = list(every())
    chosen = [case for case in cases if what in ("all", case.name) and format_ == ENVELOPES]
    if chosen:
        if run is not None:
            raise CaseError(what, "--run binds a log, but this is a case, and a case names its run")
        yield from map(of_case, chosen)
        return
    named = what in ("all", *(case.name for case in cases))
    if named and not Path(what).exists():  # under "envelopes" a named case was chosen above
        expected = "no such file; --from takes a file with a captured stream, or `-`"
        raise CaseError(what, f"{expected}, and this names a case of the project: leave --from out")
    with _opened(what, cases) as stream:
        yield from FORMATS[format_](stream, what, run)


def _opened(what: str, cases: list[Case]) -> BinaryIO:
    try:
        return Path(what).open("rb")
    except FileNotFoundError:
        message = "no case of this name, and no such file; `doneness replay all` shows all cases"
    except OSError as error:
        message = error.strerror or str(error)
    except ValueError:
        message = "no case of this name, and no name of a file either"
    close = get_close_matches(what, [case.name for case in cases])
    if close:
        message += f"; did you mean {' or '.join(close)}?"
    raise CaseError(what, message)
