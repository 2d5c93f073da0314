"""Which events stand for all others, where few must do: one for each way to be decided.

Two look at the declared tables through these few: the complete suite, and our own vote beside the
independent checkers, which know no events at all but only the tables. That no row of the lifecycle
is left without an event that fires it is tested.
"""

from __future__ import annotations

from typing import Final

from doneness.generators.moves import CALLS

_CALL: Final = ("requested", "started", "finished", "failed")

EOF: Final = "EOF"

WRONG: Final = (
    "text.delta with a key too many",
    "kind 'future.completed'",
    "not an envelope: no kind",
)
"""One bad payload, one unknown kind, one malformed envelope."""


def good_events(calls: int) -> tuple[str, ...]:
    """The names of the templates of good events with so many calls."""
    return (
        "text",
        "response completed",
        "response unresolved",
        *(f"{what} {call}" for call in CALLS[:calls] for what in _CALL),
        "approval wait",
        "cancel requested",
        "succeeded with text",
        "succeeded without text",
        "paused without text",
        "cancelled without text",
        "failed without text",
        "incomplete without text",
        "check right ok",
        "check right not ok",
        "check of another text ok",
    )
