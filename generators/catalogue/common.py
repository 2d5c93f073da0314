"""What the wrong reducers have in common: each is right but for one thing."""

from __future__ import annotations

from typing import Any

from doneness.machine import Progress
from doneness.spec.vocabulary import Status


class Wrong(Progress):
    """A right reducer with two places to go wrong in."""

    def feed(self, event: Any) -> None:
        """Take an event; `admitted` hears of it if it took a number."""
        before = len(self._memory.fingerprints), self.last_seq, self.text
        super().feed(event)
        if (len(self._memory.fingerprints), self.last_seq, self.text) != before:
            self.admitted(event)

    def admitted(self, event: dict[str, Any]) -> None:
        """Hear of an event that was admitted."""

    def shown(self, status: Status) -> Status:
        """What is shown instead of the right status."""
        return status

    @property
    def status(self) -> Status:
        """The status, after `shown`."""
        return self.shown(super().status)
