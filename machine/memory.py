"""What was fed, by id: enough to tell a repetition from a conflict, and hardly more (contract §3).

A run is nearly all text fragments in order, and the reducer keeps their text anyhow. So of a
fragment only its id is remembered, and of an id that its maker counts up with the seq (`run:1`,
`run:2`, or `e0`, `e1`) not even that: how it counts is learnt from the first one. A table of a
million ids would cost more than all the rest. Of anything else a fingerprint is kept.
"""

from __future__ import annotations

from typing import Final

from doneness.machine.content import fingerprint
from doneness.spec.vocabulary import Kind

DIGITS: Final = "0123456789"
DIGITS_MAX: Final = 18
"""Of the number in an id; what stands before counts as its prefix."""


class Memory:
    """What one run's consumer was fed; the pieces of its text lie with the reducer.

    Attributes:
        counted_to: The last seq of those whose id is the prefix and a number, seq plus `offset`;
            None as long as all are.
        prefix: What stands before the number.
        offset: The number of the first id, less 1.
        fingerprints: What was kept, by id.
    """

    __slots__ = ("_ids", "_ids_by_seq", "counted_to", "fingerprints", "offset", "prefix")

    def __init__(self) -> None:
        self.counted_to: int | None = None
        self.prefix = ""
        self.offset = 0
        self.fingerprints: dict[str, bytes] = {}
        # All ids that were not only counted; those behind the count also by seq, with None for
        # what is no fragment.
        self._ids: set[str] = set()
        self._ids_by_seq: list[str | None] = []

    def is_new(self, id_: str, seq: int) -> bool:
        """Remember the id of the next fragment; False, and nothing remembered, if it is known."""
        if id_ in self._ids:
            return False
        if self.counted_to is None and self._counts(id_, seq):
            return True
        if (
            self.counted_to
            and id_.startswith(self.prefix)
            and self._is_counted(id_, self.counted_to)
        ):
            return False
        self._ids.add(id_)
        self._ids_by_seq.append(id_)
        return True

    def keep(self, id_: str, content: bytes) -> None:
        """Remember the fingerprint of an event that is no fragment in order."""
        self.fingerprints[id_] = content
        self._ids.add(id_)

    def pass_by(self, id_: str, seq: int) -> None:
        """Take notice that the next event in order was kept as no fragment."""
        if not self._counts(id_, seq):
            self._ids_by_seq.append(None)

    def stop(self, last_seq: int) -> None:
        """End the count: from now on nothing comes in order, or not with such ids."""
        if self.counted_to is None:
            self.counted_to = last_seq

    def repeats(self, id_: str, seq: int, content: bytes, pieces: list[str]) -> bool | None:
        """Whether an event is the very same as an earlier one of its id; None if there is none.

        Args:
            id_: The event's id.
            seq: Its seq.
            content: Its fingerprint, of seq, kind and data.
            pieces: The text of the events that came in order, by seq.
        """
        if id_ in self.fingerprints:
            return self.fingerprints[id_] == content
        counted_to = len(pieces) if self.counted_to is None else self.counted_to
        if self._is_counted(id_, counted_to):
            there = id_ == f"{self.prefix}{seq + self.offset}"
        elif id_ in self._ids:
            at = seq - counted_to - 1
            there = 0 <= at < len(self._ids_by_seq) and self._ids_by_seq[at] == id_
        else:
            return None
        return there and content == fingerprint([seq, Kind.TEXT_DELTA, {"text": pieces[seq - 1]}])

    def _counts(self, id_: str, seq: int) -> bool:
        """Whether the next id carries on the count; it ends with the first that does not."""
        if seq == 1:
            self._learn(id_)
        if id_ != f"{self.prefix}{seq + self.offset}":
            self.stop(seq - 1)
        return self.counted_to is None

    def _learn(self, first: str) -> None:
        digits = first[len(first.rstrip(DIGITS)) :][-DIGITS_MAX:]
        if digits:
            number = str(int(digits))
            self.prefix = first[: -len(number)]
            self.offset = int(number) - 1

    def _is_counted(self, id_: str, to_seq: int) -> bool:
        """Whether this is the id of a counted event, up to a seq."""
        digits = id_[len(self.prefix) :]
        if not digits.isdecimal() or len(digits) > DIGITS_MAX + 1:
            return False
        seq = int(digits) - self.offset
        return 1 <= seq <= to_seq and id_ == f"{self.prefix}{seq + self.offset}"
