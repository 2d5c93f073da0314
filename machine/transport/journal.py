"""A run's durable log, with its deduplication table (contract §7).

One envelope a line, in the order of arrival, appended and never changed. A line is written by one
`write` to a file opened for appending, so a kill leaves whole lines and at most one torn tail,
which is no envelope: it is cut off when the journal is opened again. The table of ids is not
stored; it is read from the lines, so the two cannot disagree.

An envelope that is there already is not written again. Other content under a known id is written,
once: it is evidence, and a reducer that is rebuilt from the log must meet it as the first one did.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from doneness.machine.json_text import parse
from doneness.machine.transport.limits import LimitExceededError, Limits
from doneness.machine.transport.placing import Placed, line_of, placed

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

LOG_BYTES_MAX: Final = Limits().log_bytes_max

_Object = dict[str, object]


class JournalError(Exception):
    """A journal cannot be read or written; the message says where and why."""


class Appended(StrEnum):
    """What appending an envelope did."""

    STORED = "stored"  # its id is new
    KNOWN = "known"  # the very same is there already; nothing was written
    CONFLICT = "conflict"  # other content is there under its id; kept as evidence


class Journal:
    """The log of one run, for one writer at a time.

    Args:
        path: The file; it is made if it is not there.
        run: The id of the run.
        log_bytes_max: The largest size of the file, in bytes.
        sync: Whether each line is on the disk before `append` returns. Without it a kill of the
            process loses nothing, a power cut may lose the last lines.

    Attributes:
        entries: How many lines there are.
        last_seq: The highest seq; 0 in an empty journal.
        is_regular: Whether line n holds seq n, for every n; after a gap, a reordering or a
            conflict it never is again.

    Raises:
        JournalError: the file cannot be opened, another process writes it, or a whole line is no
            envelope of this run.
    """

    __slots__ = (
        "_conflicts",
        "_contents",
        "_file",
        "_log_bytes_max",
        "_path",
        "_run",
        "_size_bytes",
        "_sync",
        "entries",
        "is_regular",
        "last_seq",
    )

    def __init__(
        self,
        path: Path | str,
        run: str,
        *,
        log_bytes_max: int = LOG_BYTES_MAX,
        sync: bool = False,
    ) -> None:
        self._path = Path(path)
        self._run = run
        self._log_bytes_max = log_bytes_max
        self._sync = sync
        self._contents: dict[str, bytes] = {}
        self._conflicts: set[tuple[str, bytes]] = set()
        self._size_bytes = self.entries = self.last_seq = 0
        self.is_regular = True
        try:
            self._file: IO[bytes] = self._path.open("ab+", buffering=0)
        except OSError as error:
            raise JournalError(f"{self._path}: cannot open: {error.strerror}") from error
        try:
            self._lock()
            for envelope, size_bytes in _read(self._path, run):
                self._remember(envelope)
                self._size_bytes += size_bytes
            self._refuse_others()
            self._file.truncate(self._size_bytes)  # a torn tail goes
        except BaseException:
            self._file.close()
            raise

    @property
    def run(self) -> str:
        """The run whose log this is."""
        return self._run

    def append(self, envelope: object) -> Appended:
        """Append one envelope, unless it is there already.

        Raises:
            ValueError: it is no envelope of this run, or not strict JSON.
            LimitExceededError: the log would be larger than it may be; nothing was written.
            JournalError: it cannot be written; the log is as before.
        """
        place = placed(envelope, self._run)
        if place is None:
            raise ValueError(
                f"{self._path}: expected an envelope of the run {self._run!r} in strict JSON, "
                f"got {_brief(envelope)}"
            )
        known = self._contents.get(place.id)
        if known == place.content or (place.id, place.content) in self._conflicts:
            return Appended.KNOWN if known == place.content else Appended.CONFLICT
        line = line_of(envelope) + b"\n"
        size_bytes = self._size_bytes + len(line)
        if size_bytes > self._log_bytes_max:
            where = f"{self._path}, envelope with seq {place.seq}"
            raise LimitExceededError("log_bytes_max", self._log_bytes_max, size_bytes, where)
        self._write(line)
        self._size_bytes = size_bytes
        self._remember(place)
        return Appended.STORED if known is None else Appended.CONFLICT

    def read(self) -> Iterator[_Object]:
        """The envelopes, from the first to the last that is there at the call."""
        return _parsed_lines(self._path, self.entries)

    def close(self) -> None:
        """Close the file; idempotent."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _refuse_others(self) -> None:
        """Leave a file alone that does not end as a torn log may."""
        self._file.seek(self._size_bytes)
        if self._file.read(1) not in (b"", b"{"):
            raise JournalError(
                f"{self._path}: its last line is no envelope that was torn off, so this is not the "
                "log of a run, and nothing is appended; choose another file"
            )

    def _remember(self, place: Placed) -> None:
        if place.id in self._contents:
            self._conflicts.add((place.id, place.content))
            self.is_regular = False
        else:
            self._contents[place.id] = place.content
        self.entries += 1
        self.is_regular = self.is_regular and place.seq == self.entries
        self.last_seq = max(self.last_seq, place.seq)

    def _write(self, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:  # a write may take a part only, near a full disk
                rest = rest[self._file.write(rest) :]
            if self._sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            os.ftruncate(self._file.fileno(), self._size_bytes)  # no torn line in the middle
            raise JournalError(f"{self._path}: cannot append: {error.strerror}") from error

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise JournalError(
                f"{self._path}: another process is writing this journal; choose another"
            ) from error


def _read(path: Path, run: str) -> Iterator[tuple[Placed, int]]:
    """The whole lines of a journal: their envelopes and sizes."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                place = placed(parse(line), run)
            except ValueError as error:
                raise JournalError(f"{path}, line {number}: expected JSON, but {error}") from error
            if place is None:
                raise JournalError(f"{path}, line {number}: expected an envelope of run {run!r}")
            yield place, len(line)


def _parsed_lines(path: Path, count: int) -> Iterator[_Object]:
    with path.open("rb") as file:
        for _, line in zip(range(count), file, strict=False):
            value = parse(line)
            assert isinstance(value, dict)  # an envelope when it was written, or the file read
            yield value


def _brief(value: object) -> str:
    return (
        f"{type(value).__name__} of another kind" if type(value) is dict else type(value).__name__
    )
