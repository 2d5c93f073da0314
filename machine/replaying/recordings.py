"""Recordings: streams to replay, wherever they come from.

A recording is a run and what to feed, lazily, so that a log on standard input is replayed line by
line as it arrives. To read another format, write a function from a binary stream to recordings,
and give it a name in `doneness.machine.commands.replay`.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, NamedTuple

from doneness.fixtures.cases import Case, CaseError, cases_of
from doneness.fixtures.json_places import PlaceError, decoded, parsed
from doneness.machine.json_text import parse
from doneness.machine.reducer import Progress
from doneness.machine.task import Task
from doneness.machine.visible import visible
from doneness.spec.vocabulary import Issue


class Fed(NamedTuple):
    """One thing to feed.

    Attributes:
        event: The value that was recorded; for EOF, nothing.
        line: The JSON that it was recorded as; then that is what is fed.
        said: The event type, in the words of the format that it was captured in.
        observed: It was only observed, so nothing is fed.
    """

    event: object
    line: bytes | None = None
    eof: bool = False
    said: str = ""
    observed: bool = False


EOF: Final = Fed(None, eof=True)


@dataclass(frozen=True, slots=True)
class Recording:
    """A stream to replay.

    Attributes:
        name: Of the case, or of the file.
        run: The run that the reducer is bound to.
        bound_by: Who bound it: the case, the caller, or the first envelope.
        fed: What is fed, in order. Where it does not end in EOF, replay closes it.
        expected: The status after each of `fed`, and after EOF at the end; None where nothing
            is expected.
        task: The task that the run belongs to, where the recording shows several of its runs.
        note: Whose word the end of such a stream is.
    """

    name: str
    run: str
    bound_by: str
    fed: Iterable[Fed]
    expected: tuple[str | None, ...] = ()
    task: Task | None = None
    note: str = ""


def of_case(case: Case) -> Recording:
    """A case as a recording."""
    expected = (*(case.expected_steps or [None] * len(case.events)), case.expected_final)
    fed = [EOF if event is None else Fed(event) for event in case.events]
    return Recording(case.name, case.run, "the case", fed, expected)


def of_file(stream: BinaryIO, file: str, run: str | None = None) -> Iterator[Recording]:
    """What a file holds: a case, an array of cases, or a log of envelopes, one a line.

    Args:
        stream: Its bytes, in lines.
        file: Its name, for people.
        run: The run to bind a log to; without one, that of the first envelope.

    Raises:
        CaseError: it is none of them. For a log, this may come while it is replayed.
    """
    number, line = _next_line(stream, 0)
    if line:
        try:
            value = _value(file, number, line)
        except _UnfinishedError:
            value = {"events": ...}  # the first line of a longer document
        if not _is_of_cases(value):
            yield _log(stream, file, run, number, line)
            return
        document = b"\n" * (number - 1) + line + stream.read()
    elif run is not None:
        yield Recording(file, run, "--run", [])
        return
    else:
        raise CaseError(file, "holds nothing: expected a case, or a log of envelopes, one a line")
    if run is not None:
        raise CaseError(file, "--run binds a log, but these are cases, and a case names its run")
    cases = cases_of(document, file)
    if not cases:
        raise CaseError(file, "holds no case")
    yield from map(of_case, cases)


def _is_of_cases(value: object) -> bool:
    return isinstance(value, list) or (
        isinstance(value, dict) and "kind" not in value and not value.keys().isdisjoint(_CASE_KEYS)
    )


_CASE_KEYS: Final = frozenset({"name", "events", "expected_steps"})


def _log(stream: BinaryIO, file: str, run: str | None, number: int, line: bytes) -> Recording:
    if run is not None:
        return Recording(file, run, "--run", _lines(stream, file, [(number, line)]))
    run, held = _first_run(stream, file, number, line)
    return Recording(file, run, "the first envelope", _lines(stream, file, held))


def _lines(stream: BinaryIO, file: str, held: list[tuple[int, bytes]]) -> Iterator[Fed]:
    """The lines of a log: those that were read already, and all that follow."""
    number, line = held[-1]
    for number, line in held:  # the last number counts on
        yield _fed(file, number, line)
    while line:
        number, line = _next_line(stream, number)
        if line:
            yield _fed(file, number, line)


def _fed(file: str, number: int, line: bytes) -> Fed:
    try:
        return Fed(_value(file, number, line), line.strip())
    except _UnfinishedError as error:
        raise error.reason from None


def _next_line(stream: BinaryIO, number: int) -> tuple[int, bytes]:
    """The next line that is not blank, and its number; no bytes at the end."""
    for line in iter(stream.readline, b""):
        number += 1
        content = line.removeprefix(BOM_UTF8) if number == 1 else line
        if content.strip():
            return number, content
    return number, b""


def _first_run(
    stream: BinaryIO, file: str, number: int, line: bytes
) -> tuple[str, list[tuple[int, bytes]]]:
    """The run of the first line that is an envelope, and the lines that were read to find it.

    Raises:
        CaseError: there is no such line.
    """
    first, held = number, []
    while line:
        held.append((number, line))
        run = _run_of(_fed(file, number, line).event)
        if run is not None:
            return run, held
        number, line = _next_line(stream, number)
    message = "no line is an envelope, so none says which run the log is of; name it with --run"
    raise CaseError(file, PlaceError(message, first, 1, "run"))


def _run_of(event: object) -> str | None:
    """The run that an envelope names; None for what is no envelope."""
    run = event.get("run") if isinstance(event, dict) else None
    try:
        progress = Progress(run)  # type: ignore[arg-type] # it says whether this is a run
    except (TypeError, ValueError):
        return None
    progress.feed(event)
    return None if Issue.BAD_ENVELOPE in progress.issues else progress.run


class _UnfinishedError(Exception):
    """The text ended inside a JSON value."""

    def __init__(self, reason: CaseError) -> None:
        super().__init__()
        self.reason = reason


def _value(file: str, number: int, line: bytes) -> object:
    """The JSON value of a line, as the reducer reads it.

    Raises:
        CaseError: there is none.
        _UnfinishedError: there is none, but there may be one that goes on in the next line.
    """
    try:
        return parse(line)
    except ValueError:
        pass
    place, unfinished = PlaceError("not one JSON value", 1, 1), False
    try:
        text = decoded(line.rstrip())
    except PlaceError as error:
        place = error
    else:
        try:
            parsed(text)
        except PlaceError as error:
            place, unfinished = error, error.column > len(text)
    problem = CaseError(file, PlaceError(place.message, number, place.column, place.key))
    raise _UnfinishedError(problem) if unfinished else problem


def shown_error(error: CaseError) -> str:
    """An error as one line that is safe to look at."""
    return visible(str(error))
