"""The JSONL log: one event a line, appended, whole to the last line end (contract §6).

A line is written by one `write` to a file opened for appending, so a kill leaves whole lines and
at most one torn tail without a line end. The tail is no event: readers leave it out, and the next
writer cuts it off before it appends. One writer at a time holds the file, by an advisory lock
where the system has one.

On request the log rotates by size: the file is renamed to `NAME.1`, `NAME.2`, … (older parts have
smaller numbers), one atomic rename each, and a new one is begun. No part is ever deleted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

_TAIL_BYTES: Final = 1 << 16
_TORN: Final = b"{"  # what every event begins with


class LogError(Exception):
    """The log cannot be read or written; the message says where and why."""


class LogWriter:
    """Appends events to the log at `path`.

    Args:
        path: The file; it is made if it is not there.
        bytes_max: Rotate before a line that would make the file larger than this; None: never.
            A single line that is larger has a file of its own.

    Raises:
        LogError: another writer has the file, or it holds something else than events: nothing of
            that is touched.
    """

    __slots__ = ("_bytes_max", "_file", "_path", "_size_bytes")

    def __init__(self, path: Path | str, *, bytes_max: int | None = None) -> None:
        if bytes_max is not None and bytes_max < 1:
            raise ValueError(f"bytes_max: expected at least 1, got {bytes_max}")
        self._path = Path(path)
        self._bytes_max = bytes_max
        self._open()

    def append(self, event: Mapping[str, object]) -> None:
        """Append one event; when this returns, a kill of the process can no longer lose it."""
        line = line_of(event)
        if self._bytes_max is not None and 0 < self._size_bytes > self._bytes_max - len(line):
            self._rotate()
        try:
            self._write(line)
        except OSError as error:
            os.ftruncate(self._file.fileno(), self._size_bytes)  # not a torn line in the middle
            raise LogError(f"{self._path}: cannot append: {error.strerror}") from error
        self._size_bytes += len(line)

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

    def _open(self) -> None:
        try:
            self._file: IO[bytes] = self._path.open("ab+", buffering=0)
        except OSError as error:
            raise LogError(f"{self._path}: cannot open: {error.strerror}") from error
        try:
            _lock(self._file, self._path)
            self._size_bytes = _whole_bytes(self._file)
            _refuse_others(self._file, self._size_bytes, self._path)
            self._file.truncate(self._size_bytes)
        except BaseException:
            self._file.close()
            raise

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:  # a write may take a part only, near a full disk
            rest = rest[self._file.write(rest) :]

    def _rotate(self) -> None:
        numbers = (number for number, _ in _rotated(self._path))
        self._path.rename(_numbered(self._path, max(numbers, default=0) + 1))
        self._file.close()
        self._open()


def line_of(event: Mapping[str, object]) -> bytes:
    """`event` as one line of a log: UTF-8, or ASCII where the text holds a lone surrogate.

    Raises:
        ValueError: it cannot be written as strict JSON.
    """
    compact = (",", ":")
    try:
        text = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=compact)
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(event, allow_nan=False, separators=compact).encode() + b"\n"


def log_parts(path: Path | str) -> list[Path]:
    """The files of a log, oldest first; the last is `path` itself.

    After a kill in the middle of a rotation `path` is not there yet, and is left out.
    """
    whole = Path(path)
    rotated = [part for _, part in _rotated(whole)]
    return [*rotated, whole] if whole.exists() or not rotated else rotated


def read_log(path: Path | str) -> Iterator[dict[str, object]]:
    """The events of a log, oldest first, its rotated parts included.

    Raises:
        LogError: a file cannot be read, or a whole line of it is no JSON object.
    """
    for part in log_parts(path):
        try:
            with part.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.endswith(b"\n"):
                        yield _parsed(line, f"{part}, line {number}")
        except OSError as error:
            raise LogError(f"{part}: cannot read: {error.strerror}") from error


def _parsed(line: bytes, where: str) -> dict[str, object]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"{where}: expected one JSON object, but {error}") from error
    if not isinstance(event, dict):
        raise LogError(f"{where}: expected one JSON object, got {type(event).__name__}")
    return event


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _rotated(path: Path) -> list[tuple[int, Path]]:
    found = []
    if path.parent.is_dir():
        for part in path.parent.iterdir():
            number = part.name.removeprefix(path.name + ".")
            if number.isdecimal() and part.name == f"{path.name}.{number}":
                found.append((int(number), part))
    return sorted(found)


def _lock(file: IO[bytes], path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise LogError(f"{path}: another process is writing this log; choose another") from error


def _refuse_others(file: IO[bytes], whole_bytes: int, path: Path) -> None:
    """Leave a file alone that does not begin as a log, or does not end as a torn one may."""
    file.seek(0)
    if whole_bytes:
        _parsed(file.readline(), f"{path}, line 1")
    file.seek(whole_bytes)
    if file.read(1) not in (b"", _TORN):
        raise LogError(
            f"{path}: its last line is no event that was torn off, so this is not a log of events, "
            "and nothing is appended; choose another file"
        )


def _whole_bytes(file: IO[bytes]) -> int:
    """The size of the file up to its last line end, which is looked for from its end."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _TAIL_BYTES)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
