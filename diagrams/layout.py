"""Where the states of a machine stand, for those whose pictures are looked at most.

Only hints: columns from left to right, each from top to bottom. A machine without hints, and a
state that no hint names, are placed by Graphviz. A test holds the names against the declarations.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Layout:
    """Hints for one machine.

    Attributes:
        columns: The names of nodes, column by column.
        characters_max: The widest line of an edge's words.
        gutter_characters_max: The same, for edges within a column.
    """

    columns: tuple[tuple[str, ...], ...] = ()
    characters_max: int = 20
    gutter_characters_max: int = 20


AUTOMATIC: Final = Layout()

LAYOUTS: Final = MappingProxyType(
    {
        "lifecycle": Layout(
            columns=(
                (
                    "any:live",
                    "unresolved",
                    "recovered",
                    "running",
                    "cancelling",
                    "approval_pending",
                ),
                ("incomplete", "failed", "cancelled", "paused", "checking", "cut", "cut_waiting"),
                ("rejected", "done"),
            ),
            characters_max=21,
            gutter_characters_max=12,
        ),
    }
)
