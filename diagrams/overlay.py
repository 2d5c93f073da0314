"""What is drawn on top of a machine: a change, a path, or how often each arrow was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from doneness.diagrams.drawing import Edge, Mark, Node
from doneness.diagrams.model import Arrow


@dataclass(frozen=True, slots=True)
class Note:
    """What an overlay says about an arrow.

    Attributes:
        words: What stands before the arrow's own words, such as the numbers of a case's steps.
        after: What stands behind them.
        pale: Whether it is only there for orientation.
        order: Which words come first on a shared edge.
    """

    mark: Mark = Mark.NONE
    words: str = ""
    after: str = ""
    pale: bool = False
    order: int = 0


PLAIN = Note()


@dataclass(frozen=True, slots=True)
class Overlay:
    """All that is drawn on top of one machine.

    Attributes:
        notes: Arrows that stand out; they are drawn in any case.
        rest: What is said of all others.
        marks: States that stand out, by name.
        pale: Whether all else is only there for orientation, and needs no legend.
        count: How often an arrow was taken.
        nodes: Further nodes.
        edges: Further edges.
        legend: Sentences that come before those of the machine.
        table: The steps of a case.
    """

    notes: Mapping[Arrow, Note] = field(default_factory=dict)
    rest: Note = PLAIN
    marks: Mapping[str, Mark] = field(default_factory=dict)
    pale: bool = False
    count: Callable[[Arrow], int] | None = None
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    legend: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()

    def note(self, arrow: Arrow) -> Note:
        """What is said of an arrow."""
        return self.notes.get(arrow, self.rest)


NOTHING = Overlay()
