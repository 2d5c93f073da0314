"""How long a check goes on with a subject that has failed already.

What is found of such a subject is found again and again, and one that is slow as well would keep
its owner waiting for minutes. So each check that is left has a little time, and what it did not get
to is said. A subject that has not failed is checked whole, however long that takes.
"""

from __future__ import annotations

import time
from typing import Final

FAILED_SECONDS: Final = 2.0
"""For each check of a subject that has failed: most come to their end."""

SLOW_SECONDS: Final = 0.5
"""For one whose time grows faster than the run: the short streams are what there is time for."""


class Haste:
    """The time of one check.

    Attributes:
        was_cut: Whether it was over before the check.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self.was_cut = False

    @property
    def limited(self) -> bool:
        """Whether there is any hurry."""
        return self._until is not None

    def is_over(self) -> bool:
        """Whether the check must end, with something left."""
        self.was_cut |= self._until is not None and time.monotonic() > self._until
        return self.was_cut

    def batches(self, patient: int, hasty: int) -> int:
        """How much is done at once before the next look at the time."""
        return hasty if self.limited else patient


PATIENT: Final = Haste()
"""All the time that there is."""
