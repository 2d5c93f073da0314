"""One run's envelopes, put back in order (contract §7).

The idea: what is handed on is the longest gapless beginning of the log that has arrived. An
envelope that is ahead waits until those before it are there; whatever has no place, or an earlier
one, is handed on at once, because a repeat, a conflict or a malformed envelope is evidence that
the reducer must count or refuse. Everything taken is handed on exactly once.

Waiting has a bound. When it is reached, or the source ends, all that waits is handed on in order:
the reducer meets the gap itself and records `sequence_gap_or_reorder`. An envelope that arrives
after that is late for good.

The next number is the reducer's: last seq plus one, where a repeated id moves nothing.
"""

from __future__ import annotations

from typing import Final

from doneness.machine.json_text import parse
from doneness.machine.transport.placing import Placed, line_of, placed

HELD_MAX: Final = 1024
"""Envelopes that wait: several round trips of a fast stream."""
HELD_BYTES_MAX: Final = 16 * 2**20
"""Their size as JSON; the same as one large event."""


class Resequencer:
    """Puts the envelopes of one run in order.

    What waits is kept as it was when it was taken, even if the caller changes its object later.

    Args:
        run: The id of the run.
        held_max: The most envelopes that may wait at once, repeats included.
        held_bytes_max: The most bytes, as JSON, that may wait at once.

    Attributes:
        last_seq: The highest seq handed on; 0 before the first.
        held: How many envelopes wait.
        held_bytes: Their size as JSON.
    """

    __slots__ = (
        "_ended",
        "_held_bytes_max",
        "_held_max",
        "_ids",
        "_run",
        "_waiting",
        "held",
        "held_bytes",
        "last_seq",
    )

    def __init__(
        self, run: str, *, held_max: int = HELD_MAX, held_bytes_max: int = HELD_BYTES_MAX
    ) -> None:
        for name, maximum in (("held_max", held_max), ("held_bytes_max", held_bytes_max)):
            if maximum < 0:
                raise ValueError(f"{name}: expected at least 0, got {maximum}")
        self._run = run
        self._held_max = held_max
        self._held_bytes_max = held_bytes_max
        self._ids: set[str] = set()  # handed on; a repeat of one moves no number
        self._waiting: dict[int, list[tuple[Placed, bytes]]] = {}
        self._ended = False
        self.last_seq = 0
        self.held = 0
        self.held_bytes = 0

    @property
    def run(self) -> str:
        """The run whose envelopes are put in order."""
        return self._run

    def take(self, event: object) -> list[object]:
        """Take one event from the source; returns what can be handed on now, in order."""
        return self.take_placed(event, placed(event, self._run))

    def take_placed(self, event: object, place: Placed | None) -> list[object]:
        """The same, for a caller that has asked for the event's place already."""
        if place is None:
            return [event]
        if place.seq > self.last_seq + 1 and not self._ended:
            self._hold(place, line_of(event))
            is_full = self.held > self._held_max or self.held_bytes > self._held_bytes_max
            return self._all_in_order() if is_full else []
        self._pass(place)
        return [event, *self._followers()]

    def end(self) -> list[object]:
        """The source says EOF: what waits is handed on, in order; nothing waits from now on."""
        self._ended = True
        return self._all_in_order()

    def _pass(self, place: Placed) -> None:
        if place.id not in self._ids:
            self._ids.add(place.id)
            self.last_seq = max(self.last_seq, place.seq)

    def _hold(self, place: Placed, line: bytes) -> None:
        self._waiting.setdefault(place.seq, []).append((place, line))
        self.held += 1
        self.held_bytes += len(line)

    def _release(self, seq: int) -> list[object]:
        released: list[object] = []
        for place, line in self._waiting.pop(seq):
            self.held -= 1
            self.held_bytes -= len(line)
            self._pass(place)
            released.append(parse(line))
        return released

    def _followers(self) -> list[object]:
        released: list[object] = []
        while self.last_seq + 1 in self._waiting:
            released += self._release(self.last_seq + 1)
        return released

    def _all_in_order(self) -> list[object]:
        return [event for seq in sorted(self._waiting) for event in self._release(seq)]
