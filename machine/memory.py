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

_TEXT_DELTA: Final = str(Kind.TEXT_DELTA)
_OTHER: Final = b""


class Memory:
    """What one run's consumer was fed; the pieces of its text lie with the reducer.

    Attributes:
        counted: Whether every id so far was its prefix and its number: seq plus `offset`.
        prefix: What stands before the number.
        offset: The number of the first id, less 1.
    """

    __slots__ = (
        "_counted_to",
        "_fingerprints",
        "_ids",
        "_ids_by_seq",
        "counted",
        "offset",
        "prefix",
    )

    def __init__(self) -> None:
        self.counted = True
        self.prefix = ""
        self.offset = 0
        self._counted_to = 0  # the last seq whose id was counted, once `counted` no longer holds
        # All ids that were not only counted; those behind the count also by seq, with an empty
        # text for what is no fragment.
        self._ids: set[str] = set()
        self._ids_by_seq: list[str] = []
        self._fingerprints: dict[str, bytes] = {}

    def __len__(self) -> int:
        """How many events were remembered by a fingerprint."""
        return len(self._fingerprints)

    def is_new(self, id_: str, seq: int) -> bool:
        """Remember the id of the next fragment; False, and no effect, if it might be known."""
        if id_ in self._ids:
            return False
        if self.counted and self.counts(id_, seq):
            return True
        if self._counted_to and id_.startswith(self.prefix) and self._number_in(id_, seq - 1):
            return False
        self._ids.add(id_)
        self._ids_by_seq.append(id_)
        return True

    def counts(self, id_: str, seq: int) -> bool:
        """Whether the next id carries on the count; it ends with the first that does not."""
        if self.counted:
            if seq == 1:
                self._learn(id_)
            if id_ == f"{self.prefix}{seq + self.offset}":
                return True
            self.stop(seq - 1)
        return False

    def keep(self, id_: str, content: bytes) -> None:
        """Remember the fingerprint of an event that is no fragment in order."""
        self._fingerprints[id_] = content
        self._ids.add(id_)

    def pass_by(self, id_: str, seq: int) -> None:
        """Take notice that the next event in order was kept as no fragment."""
        if not self.counts(id_, seq):
            self._ids_by_seq.append("")

    def stop(self, last_seq: int) -> None:
        """End the count: from now on nothing comes in order, or not with such ids."""
        if self.counted:
            self.counted = False
            self._counted_to = last_seq

    def content(self, id_: str, seq: int, pieces: list[str]) -> bytes | None:
        """The fingerprint of what was fed under this id, if anything was.

        Args:
            id_: The id.
            seq: What the event at hand says of its place: of a fragment that has another place,
                it need only be known that it is another event.
            pieces: The text of the events in order, by seq.
        """
        known = self._fingerprints.get(id_)
        if known is not None:
            return known
        place = self._number_in(id_, len(pieces))
        if not place:
            if id_ not in self._ids:
                return None
            place, at = seq, seq - self._counted_to - 1
            if at < 0 or self._ids_by_seq[at : at + 1] != [id_]:
                return _OTHER
        return fingerprint([place, _TEXT_DELTA, {"text": pieces[place - 1]}])

    def _learn(self, first: str) -> None:
        digits = first[len(first.rstrip(DIGITS)) :][-DIGITS_MAX:]
        if digits:
            number = digits.lstrip("0") or "0"
            self.prefix = first[: -len(number)]
            self.offset = int(number) - 1

    def _number_in(self, id_: str, last_seq: int) -> int:
        """The seq whose counted id this is; 0 if there is none."""
        if not id_.startswith(self.prefix):
            return 0
        digits = id_[len(self.prefix) :]
        if not digits.isdecimal() or len(digits) > DIGITS_MAX + 1:
            return 0
        seq = int(digits) - self.offset
        counted_to = last_seq if self.counted else self._counted_to
        return seq if 1 <= seq <= counted_to and id_ == f"{self.prefix}{seq + self.offset}" else 0
