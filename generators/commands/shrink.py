"""`doneness shrink`: from the log of a real run to a few events that still show the fault."""

from __future__ import annotations

import json
import sys
import time
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any, Final, NoReturn

import click

from doneness.generators.classify import declared, moves
from doneness.generators.commands.output_file import OutputFile
from doneness.generators.divergence import Divergence
from doneness.generators.log_shrink import Shrinking, StillShows, links, neutral
from doneness.generators.oracle import END_OF_TRANSPORT
from doneness.generators.still_shows import (
    PROPERTIES,
    GivenUpError,
    NotShownError,
    breach,
    breaks,
    differs,
    first_difference,
    shown_at_the_end,
)
from doneness.generators.subject import Subject
from doneness.generators.subjects import SubjectError, open_subject
from doneness.machine.commands.run_option import run_to_bind
from doneness.machine.json_text import parse
from doneness.machine.reducer import Progress
from doneness.machine.visible import visible

_SHOWN_EVERY_SECONDS: Final = 0.5
_OWN: Final = "doneness.machine:Progress"


@click.command()
@click.argument("log", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--subject",
    "spec",
    default=_OWN,
    show_default=True,
    metavar="SPEC",
    help="package.module:factory, or exec:COMMAND.",
)
@click.option(
    "--deadline",
    "answer_seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=4.0,
    show_default=True,
    metavar="SECONDS",
    help="For each answer, and a second more for each megabyte of its question.",
)
@click.option(
    "--run",
    callback=run_to_bind,
    help="The run to follow (default: that of the first envelope).",
)
@click.option(
    "--property",
    "rule",
    type=click.Choice(list(PROPERTIES)),
    help="Keep this property broken, instead of any difference from the declaration.",
)
@click.option("--neutral", "is_neutral", is_flag=True, help="Replace ids, texts and data.")
@click.option("--eof/--no-eof", default=True, help="Whether the connection ended after the log.")
@click.option(
    "--output",
    type=OutputFile(),
    help="The case file (default: LOG with the ending .case.json).",
)
def command(
    log: Path,
    spec: str,
    answer_seconds: float,
    run: str | None,
    rule: str | None,
    is_neutral: bool,
    eof: bool,
    output: Path | None,
) -> None:
    """Shrink LOG, a JSONL file of envelopes, to a minimal stream on which a subject still fails.

    Interrupt it at any time: what was reached so far is written.

    Exit status: 1 if the subject fails on the log; 0 if it does not; 2 if the log or the subject
    cannot be read.
    """
    try:
        events = list(_read(log))
        subject = open_subject(spec, answer_seconds=answer_seconds)
    except (_LogError, SubjectError) as error:
        _say(f"Error: {visible(str(error))}")
        sys.exit(2)
    run = run or _first_run(events)
    if run is None:
        _say(f"Error: {log}: no envelope names a run; name one (--run)")
        sys.exit(2)
    _say(f"{len(events):,} events of run {visible(run)}")
    if eof:
        events.append(END_OF_TRANSPORT)
    try:
        shortest = _shrunk(subject, run, events, rule, answer_seconds)
    except NotShownError as error:
        _say(f"Error: {visible(str(error))}")
        sys.exit(2)
    if shortest is None:
        _say("nothing to shrink: the subject keeps the contract on this log")
        return
    subject.close()
    subject = open_subject(spec, answer_seconds=answer_seconds)  # with patience as at the start
    if not _shows(subject, run, rule)(shortest):
        _not_again(answer_seconds)
    if is_neutral:
        run, shortest = _without_names(subject, run, shortest, rule)
    path = output or log.with_suffix(".case.json")
    path.write_text(_case(subject, run, shortest, rule, path), "utf-8")
    click.echo(f"written to {visible(str(path))}")
    click.echo(f"again      doneness fixture run {quote(visible(str(path)))}{_asked(spec)}")
    sys.exit(1)


class _LogError(ValueError):
    pass


def _read(log: Path) -> Iterator[object]:
    with log.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = line.removeprefix(BOM_UTF8) if number == 1 else line
            if text.strip():
                try:
                    yield parse(text)
                except ValueError as error:
                    raise _LogError(f"{log}, line {number}: expected JSON: {error}") from None


def _first_run(events: list[object]) -> str | None:
    for event in events:
        if isinstance(event, dict):
            try:
                return Progress(event.get("run")).run  # type: ignore[arg-type] # it says which
            except (TypeError, ValueError):
                continue
    return None


def _shrunk(
    subject: Subject, run: str, events: list[object], rule: str | None, answer_seconds: float
) -> list[object] | None:
    log = links(run, events)
    still_shows = _shows(subject, run, rule)
    if rule is None:
        length = first_difference(subject, run, [link.move for link in log])
        if length is None:
            return None
        log = log[:length]
    else:
        broken = breach(subject, run, rule, [link.move for link in log])
        if broken is None:
            return None
        log = log[: broken.index + 1]
    if not still_shows([link.event for link in log]):
        _not_again(answer_seconds)
    search = Shrinking(run, log, still_shows)
    shown_at = time.monotonic()
    try:
        for left in search.steps():
            if time.monotonic() - shown_at > _SHOWN_EVERY_SECONDS:
                shown_at = time.monotonic()
                _say(f"{left:,} events left after {search.tries:,} tries")
    except KeyboardInterrupt:
        _say("interrupted: what was reached is written")
    except GivenUpError as error:
        _say(f"{visible(str(error))}: what was reached is written")
    _say(f"{len(search.best):,} events left after {search.tries:,} tries")
    return search.best


def _shows(subject: Subject, run: str, rule: str | None) -> StillShows:
    return breaks(subject, run, rule) if rule else differs(subject, run)


def _not_again(answer_seconds: float) -> NoReturn:
    _say(
        "Error: the same events do not show it again, so nothing is written: the subject fails now "
        f"and then, or is slow; try a longer --deadline than {answer_seconds:g}"
    )
    sys.exit(2)


def _asked(spec: str) -> str:
    """The option that names the subject, as it must be typed; none for the project's own."""
    return "" if spec == _OWN else f" --subject={quote(spec)}"


def _without_names(
    subject: Subject, run: str, events: list[object], rule: str | None
) -> tuple[str, list[object]]:
    fresh, fresh_run = neutral(run, events), "run-A"
    if _shows(subject, fresh_run, rule)(fresh):
        return fresh_run, fresh
    _say("Error: the fault depends on the names or texts themselves: nothing neutral shows it")
    sys.exit(2)


def _case(subject: Subject, run: str, events: list[object], rule: str | None, path: Path) -> str:
    found = shown_at_the_end(subject, run, events)
    if rule is not None:
        broken = breach(subject, run, rule, moves(run, events))
        if broken is not None:
            click.echo(f"breaks {rule}: {broken.reason}\n{broken.story.upto(broken.index)}")
    elif found is not None:
        click.echo(found.table())
    case = (found or Divergence(subject.name, "recorded stream", run, ())).case()
    members: dict[str, Any] = {**case, "name": path.name.split(".")[0], "events": events}
    if len(case["expected_steps"]) != len(events):
        members["expected_steps"] = [str(said.status) for said in declared(run, events)]
        del members["shown_steps"]
    return json.dumps(members, indent=1) + "\n"


def _say(line: str) -> None:
    click.echo(line, err=True)
