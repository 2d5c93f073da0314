"""One list of events a run, and any number of viewers who read it at their own pace.

There is no queue for a viewer. A run is a list that only grows, and a viewer is a position in it,
so nothing can be lost, reordered or sent twice, and a slow viewer holds nothing but its number.
That number is the `id` of each server-sent event: `Last-Event-ID` says where to go on.

What a viewer can have seen is in the log already: a record is appended to the run's JSONL file
before it is published. A record is either an envelope of the run, or an event about it that no
status depends on (`type` instead of `kind`), such as the name of a tool. After a restart the hub
reads the logs anew: a run whose end is not in its log has no more to say, and is not known to
have ended.

All of it belongs to one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Final

from doneness.machine.reducer import Progress
from doneness.machine.watchers.log import LogWriter, line_of, read_log

HEARTBEAT_SECONDS: Final = 15.0
"""How long a viewer is left without a byte: proxies close what is silent, often after 30 s."""

RETRY: Final = b"retry: 1000\n\n"
HEARTBEAT: Final = b": heartbeat\n\n"
BATCH_FRAMES_MAX: Final = 256

Record = Mapping[str, object]


class RunStream:
    """The records of one run.

    Args:
        run: The id of the run, chosen by the host.
        log: Its file; records that are there already come first.
        writable: Whether more may come; a run that cannot go on ends with what its log holds.

    Raises:
        LogError: the log is damaged, or somebody else writes it.
    """

    __slots__ = ("_changed", "_ended", "_frames", "_left", "_log", "opening", "progress", "viewers")

    def __init__(self, run: str, log: Path, *, writable: bool = True) -> None:
        self.progress = Progress(run)
        self.opening: Record = {}  # the first record: what the run is about
        self.viewers = 0
        self._frames: list[bytes] = []
        self._changed = asyncio.Event()
        self._ended = self._left = False
        self._log = LogWriter(log) if writable else None
        for record in read_log(log):
            self._keep(record)
        if not writable:
            self.end()

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.progress.run

    @property
    def ended(self) -> bool:
        """The host has no more to say about this run; that alone proves nothing about it."""
        return self._ended

    def __len__(self) -> int:
        return len(self._frames)

    def publish(self, record: Record) -> None:
        """Log one record, then let every viewer see it.

        Raises:
            LogError: it could not be logged; nobody has seen it.
            ValueError: the run's stream has ended.
        """
        if self._log is None or self._ended:
            raise ValueError(f"run {self.run}: its stream has ended, nothing may follow")
        self._log.append(record)
        self._keep(record)
        self._wake()

    def end(self) -> None:
        """Nothing follows: the end of the transport for every viewer; idempotent."""
        self._ended = True
        self.progress.close_transport()
        self._close_log()
        self._wake()

    def leave(self) -> None:
        """The server stops: let the viewers go, who will ask again; no end of the run."""
        self._left = True
        self._close_log()
        self._wake()

    async def frames(
        self, seen: int = 0, *, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> AsyncGenerator[bytes, None]:
        """Server-sent events as bytes, from the record after `seen`, until the stream ends.

        A position that this log never reached is that of another log: everything is sent.
        """
        position = seen if 0 <= seen <= len(self._frames) else 0
        self.viewers += 1
        try:
            yield RETRY
            while True:
                changed = self._changed
                batch = self._frames[position : position + BATCH_FRAMES_MAX]
                if batch:
                    position += len(batch)
                    yield b"".join(batch)
                elif self._ended:
                    yield b"id: %d\nevent: end\ndata:\n\n" % position
                    return
                elif self._left:
                    return
                else:
                    try:
                        await asyncio.wait_for(changed.wait(), heartbeat_seconds)
                    except TimeoutError:
                        yield HEARTBEAT
        finally:
            self.viewers -= 1

    def _keep(self, record: Record) -> None:
        if "kind" in record:
            self.progress.feed(record)
            name = b""
        else:
            name = b"event: about\n"
        self.opening = self.opening or record
        number = len(self._frames) + 1
        self._frames.append(b"id: %d\n%bdata: %b\n" % (number, name, line_of(record)))

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _close_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None


class Hub:
    """The runs of one folder of logs, in the order in which they began.

    Args:
        folder: Where the logs are, `RUN.jsonl` each; made if it is not there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.streams: dict[str, RunStream] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def load(self, *, open_runs: frozenset[str] = frozenset()) -> None:
        """Read the logs that are there; only `open_runs` may go on.

        Raises:
            LogError: see `RunStream`.
        """
        found = [
            RunStream(log.stem, log, writable=log.stem in open_runs)
            for log in self.folder.glob("*.jsonl")
        ]
        for stream in sorted(found, key=lambda each: _began(each.opening)):
            self.streams[stream.run] = stream

    def open(self, run: str) -> RunStream:
        """A new run."""
        if run in self.streams:
            raise ValueError(f"run {run}: there is one with this id already")
        self.streams[run] = RunStream(run, self.folder / f"{run}.jsonl")
        return self.streams[run]

    def leave(self) -> None:
        """The server stops."""
        for stream in self.streams.values():
            stream.leave()


def _began(opening: Record) -> float:
    ts = opening.get("ts")
    return float(ts) if isinstance(ts, int | float) else 0.0
