"""One list of events a run, and any number of viewers who read it at their own pace.

There is no queue for a viewer. A run is a list that only grows, and a viewer is a position in it,
so nothing can be lost, reordered or sent twice, and a slow viewer holds nothing but its number.
That number is the `id` of each server-sent event: `Last-Event-ID` says where to go on.

What a viewer can have seen is on record already: a record is appended to a JSONL file before it is
published. A record is either an envelope of the run, in `RUN.jsonl`, which `doneness replay` reads;
or something about the run that no status depends on (`type` instead of `kind`), such as the name of
a tool, in `RUN.about.jsonl` with the number of envelopes before it (`after`), so that both together
make the same list again. After a restart the hub reads them anew: a run whose end is not in its log
has no more to say, and is not known to have ended.

All of it belongs to one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from doneness.machine.reducer import Progress
from doneness.machine.watchers.log import LogWriter, line_of, read_log

HEARTBEAT_SECONDS: Final = 15.0
"""How long a viewer is left without a byte: proxies close what is silent, often after 30 s."""

RETRY: Final = b"retry: 1000\n\n"
HEARTBEAT: Final = b": heartbeat\n\n"
BATCH_FRAMES_MAX: Final = 256

_ENVELOPES: Final = ".jsonl"
_ABOUT: Final = ".about.jsonl"

Record = Mapping[str, object]


class RunStream:
    """The records of one run.

    Args:
        run: The id of the run, chosen by the host.
        folder: Where its files are; records that are there already come first.
        writable: Whether more may come; a run that cannot go on ends with what its log holds.

    Raises:
        LogError: the log is damaged, or somebody else writes it.
    """

    __slots__ = (
        "_about",
        "_changed",
        "_ended",
        "_envelopes",
        "_frames",
        "_left",
        "_log",
        "opening",
        "progress",
        "viewers",
    )

    def __init__(self, run: str, folder: Path, *, writable: bool = True) -> None:
        self.progress = Progress(run)
        self.opening: Record = {}  # the first record about the run: its title, say
        self.viewers = 0
        self._frames: list[bytes] = []
        self._changed = asyncio.Event()
        self._ended = self._left = False
        self._envelopes = 0
        log, about = folder / f"{run}{_ENVELOPES}", folder / f"{run}{_ABOUT}"
        self._log = LogWriter(log) if writable else None
        self._about = LogWriter(about) if writable else None
        for record in _merged(read_log(log), read_log(about) if about.exists() else iter(())):
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
        if self._log is None or self._about is None or self._ended:
            raise ValueError(f"run {self.run}: its stream has ended, nothing may follow")
        if "kind" in record:
            self._log.append(record)
        else:
            record = {**record, "after": self._envelopes}
            self._about.append(record)
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
            self._envelopes += 1
            name = b""
        else:
            self.opening = self.opening or record
            name = b"event: about\n"
        number = len(self._frames) + 1
        self._frames.append(b"id: %d\n%bdata: %b\n" % (number, name, line_of(record)))

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _close_log(self) -> None:
        for log in (self._log, self._about):
            if log is not None:
                log.close()
        self._log = self._about = None


class Hub:
    """The runs of one folder of logs, in the order in which they began.

    Args:
        folder: Where the logs are; made if it is not there.
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
            RunStream(run, self.folder, writable=run in open_runs)
            for run in sorted(
                log.name.removesuffix(_ENVELOPES)
                for log in self.folder.glob(f"*{_ENVELOPES}")
                if not log.name.endswith(_ABOUT)
            )
        ]
        for stream in sorted(found, key=lambda each: _began(each.opening)):
            self.streams[stream.run] = stream

    def open(self, run: str) -> RunStream:
        """A new run."""
        if run in self.streams:
            raise ValueError(f"run {run}: there is one with this id already")
        self.streams[run] = RunStream(run, self.folder)
        return self.streams[run]

    def leave(self) -> None:
        """The server stops."""
        for stream in self.streams.values():
            stream.leave()


def _merged(envelopes: Iterator[Record], about: Iterator[Record]) -> Iterator[Record]:
    """The records in the order in which they were published."""
    count = 0
    for record in about:
        behind = record.get("after")
        wanted = behind - count if isinstance(behind, int) else 0
        for envelope in islice(envelopes, max(0, wanted)):
            count += 1
            yield envelope
        yield record
    yield from envelopes


def _began(opening: Record) -> float:
    ts = opening.get("ts")
    return float(ts) if isinstance(ts, int | float) else 0.0
