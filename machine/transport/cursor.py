"""Resuming after the last seq seen, or beginning again (contract §7).

A viewer that comes back names the last seq that it took. It gets what is missing, from memory, and
goes on with the reducer that it has. If its cursor is too old for what is kept in memory, or names
no place in the log, it gets the authoritative snapshot instead.

The snapshot is the complete log from 1, for a new reducer. No summary of facts would do: a reducer
must know every id to tell a duplicate from a conflict. So a log is never trimmed; the window in
memory is. A seq names a place only while line n holds seq n: after a gap or a conflict (both are
issues for good) every viewer gets the snapshot, so that none misses the evidence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from doneness.machine.json_text import parse
from doneness.machine.transport.journal import Appended, Journal
from doneness.machine.transport.placing import line_of

RECENT_MAX: Final = 4096
"""Envelopes kept in memory for viewers that come back soon."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What came after the cursor: feed it to the reducer that stopped there."""

    envelopes: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The complete log: feed it to a new reducer, in place of the one before.

    Attributes:
        envelopes: Read from the journal as they are asked for, once.
    """

    envelopes: Iterator[dict[str, object]]


class Resumable:
    """A journal from which viewers can resume.

    Args:
        journal: The run's log. Append through this object only.
        recent_max: How many envelopes are kept in memory.
    """

    __slots__ = ("_journal", "_recent")

    def __init__(self, journal: Journal, *, recent_max: int = RECENT_MAX) -> None:
        if recent_max < 0:
            raise ValueError(f"recent_max: expected at least 0, got {recent_max}")
        self._journal = journal
        self._recent: deque[bytes] = deque(map(line_of, journal.read()), maxlen=recent_max)

    def append(self, envelope: object) -> Appended:
        """Append to the journal first, then to what is kept in memory; as `Journal.append`."""
        entries = self._journal.entries
        appended = self._journal.append(envelope)
        if self._journal.entries > entries:
            self._recent.append(line_of(envelope))
        return appended

    def since(self, last_seq: int) -> Missing | Snapshot:
        """What a viewer needs that took everything up to `last_seq`; 0: it took nothing.

        Whoever goes on to live envelopes must subscribe in the same step, before the next
        `append`; what comes twice is a duplicate and does no harm.

        Raises:
            ValueError: `last_seq` is negative or no integer.
        """
        if not isinstance(last_seq, int) or isinstance(last_seq, bool) or last_seq < 0:
            raise ValueError(f"last_seq: expected an integer of at least 0, got {last_seq!r}")
        missing = self._journal.entries - last_seq
        if not self._journal.is_regular or not 0 <= missing <= len(self._recent):
            return Snapshot(self._journal.read())
        start = len(self._recent) - missing
        return Missing(tuple(_envelope(line) for line in islice(self._recent, start, None)))


def _envelope(line: bytes) -> dict[str, object]:
    value = parse(line)
    assert isinstance(value, dict)  # the journal took it as an envelope
    return value
