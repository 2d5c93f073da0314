"""Captured streams of other formats as recordings, one for each run that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO, Final, Literal, cast

from doneness.fixtures.cases import CaseError
from doneness.machine.adapters.base import WireAdapter
from doneness.machine.adapters.capture import ADAPTERS, taken
from doneness.machine.replaying.recordings import Fed, Recording
from doneness.machine.task import Task

_CHUNK_BYTES: Final = 1 << 16


def of_capture(format_: str) -> Callable[[BinaryIO, str, str | None], Iterator[Recording]]:
    """A function that reads captures of a format, a key of `ADAPTERS`, into recordings."""

    def read(stream: BinaryIO, file: str, run: str | None = None) -> Iterator[Recording]:
        """See `of_file`; the run is `capture` unless it is bound to another name."""
        bound_by = "--run" if run is not None else "replay"
        try:
            tasks = [Task(file, run if run is not None else "capture")]
        except (TypeError, ValueError) as error:
            raise CaseError(file, f"--run: {error}") from None
        adapter = ADAPTERS[format_](tasks[0].current.run)
        some = False
        for index, events in groupby(_fed(stream, adapter, tasks), itemgetter(0)):
            some = True
            begins = adapter.runs[index]
            name = file if index == 0 else f"{file}, run {index + 1} ({begins.how})"
            fed = map(itemgetter(1), events)
            yield Recording(
                name, begins.run, bound_by, fed, task=tasks[-1], note=adapter.owner_note
            )
        if not some:
            yield Recording(file, adapter.runs[0].run, bound_by, [], note=adapter.owner_note)

    return read


def _fed(stream: BinaryIO, adapter: WireAdapter, tasks: list[Task]) -> Iterator[tuple[int, Fed]]:
    """What is fed, each with the number of the run that it belongs to, from 0."""
    index = 0
    for event in taken(_chunks(stream), adapter):
        while index < len(adapter.runs) - 1:
            index += 1
            _next_run(tasks, *adapter.runs[index])
        if not event.envelopes:
            yield index, Fed(None, said=event.said, observed=True)
        for envelope in event.envelopes:
            tasks[-1].feed(envelope)
            yield index, Fed(envelope, said=event.said)
    tasks[-1].close_transport()


def _next_run(tasks: list[Task], run: str, how: str) -> None:
    tasks[-1].close_transport()
    if how == "follow":  # after a success, it is another task
        tasks.append(Task(run, run))
    else:
        tasks[-1].begin(run, cast("Literal['resume', 'retry']", how))


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes of a stream, as they arrive where it can tell."""
    read = getattr(stream, "read1", stream.read)
    return iter(lambda: read(_CHUNK_BYTES), b"")
