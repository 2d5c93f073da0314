"""What a renderer draws: nodes and edges with their words already chosen.

A renderer decides how a thing looks, never what is shown. Whatever matters is said by shape, line
or sign as well as by colour, so that a picture printed in grey loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


class Mark(StrEnum):
    """Why a node or an edge stands out."""

    NONE = ""
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    BEFORE = "before"
    WALKED = "walked"
    LEFT = "left"
    MISSED = "missed"

    @property
    def sign(self) -> str:
        """What stands before the words of an edge with this mark."""
        return {"added": "+ ", "removed": "− ", "changed": "~ ", "before": "~ was: "}.get(
            self.value, ""
        )


class Shape(StrEnum):
    """What a node stands for."""

    STATE = "state"
    ANY = "any"  # all states of a group at once
    ISSUE = "issue"  # where refused events lead: evidence of a contradiction
    SUBJECT = "subject"  # what a subject showed, where it left the path


@dataclass(frozen=True, slots=True)
class Node:
    """A box.

    Attributes:
        group: The group it is drawn in; None: outside of all.
        shows: The status a person sees, where it is not the title.
        within: Further lines in the box.
    """

    name: str
    title: str
    group: str | None = None
    shows: str | None = None
    within: tuple[str, ...] = ()
    final: bool = False
    shape: Shape = Shape.STATE
    mark: Mark = Mark.NONE
    pale: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow between two boxes, with all that is said on it.

    Attributes:
        phrases: One for each condition: `trigger, trigger [guard]`.
        main: Whether it belongs to the line from the beginning to the good end.
        refused: Whether its events are refused.
        width: Line width as a multiple of the usual one.
    """

    source: str
    target: str
    phrases: tuple[str, ...]
    mark: Mark = Mark.NONE
    main: bool = False
    refused: bool = False
    pale: bool = False
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of one machine.

    Attributes:
        initial: The node where the machine starts.
        main_line: The nodes of the good end, in order.
        legend: Sentences under the picture.
        table: Rows under the picture (a header first), where it tells a story in steps.
    """

    name: str
    title: str
    initial: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    main_line: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = field(default=())

    def groups(self) -> Iterator[tuple[str | None, tuple[Node, ...]]]:
        """The nodes by group, in order of their first appearance."""
        for group in dict.fromkeys(node.group for node in self.nodes):
            yield group, tuple(node for node in self.nodes if node.group == group)
