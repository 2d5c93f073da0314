"""What is open in an AG-UI run, and whose it is.

Messages, tool calls, reasoning, steps and subagents are opened and closed; whatever continues or
closes one must name an open one and agree with its owner. A chunk stands for all three at once:
it opens what it names first, and later chunks of its lane continue it, until something else
arrives in that lane. An owner is a subagent's run id, or None for the agent itself.

Source: AG-UI 1.1, "Streaming Messages", "Reasoning", "Subagents", "Runs and Steps".
"""

from __future__ import annotations

from enum import StrEnum, unique
from typing import NamedTuple, TypeAlias

from doneness.machine.adapters.base import Contradiction

Owner: TypeAlias = str | None


@unique
class Item(StrEnum):
    """What can be open."""

    TEXT = "text message"
    CALL = "tool call"
    REASONING = "reasoning message"
    SPAN = "reasoning span"
    STEP = "step"
    SUBAGENT = "subagent"


class _Opened(NamedTuple):
    owner: Owner
    said: str  # what its opening said of it: the role, the name of the tool


class _Lane(NamedTuple):
    item: Item
    id: str
    said: str
    details: dict[str, str]


class Brackets:
    """The open items of one run."""

    __slots__ = ("_lanes", "_open")

    def __init__(self) -> None:
        self._open: dict[tuple[Item, object], _Opened] = {}
        self._lanes: dict[Owner, _Lane] = {}

    def open(self, item: Item, id_: str, owner: Owner, said: str = "") -> None:
        """Open an item that is not open."""
        key = _key(item, id_, owner)
        if key in self._open:
            raise Contradiction(f"{item} {id_} is open already")
        self._open[key] = _Opened(owner, said)

    def goes_on(self, item: Item, id_: str, owner: Owner) -> Owner:
        """Its owner, if the item is open and the tag of the continuation, if any, agrees."""
        opened = self._open.get(_key(item, id_, owner))
        if opened is None:
            raise Contradiction(f"no {item} {id_} is open")
        if owner is not None and owner != opened.owner:
            raise Contradiction(f"{item} {id_} belongs to another than {owner}")
        return opened.owner

    def close(self, item: Item, id_: str, owner: Owner) -> None:
        """Close an open item."""
        self.goes_on(item, id_, owner)
        del self._open[_key(item, id_, owner)]

    def is_open(self, item: Item, id_: str) -> bool:
        """Whether the item is open."""
        return (item, id_) in self._open

    def first_open(self) -> str | None:
        """What was opened first and not closed."""
        for item, id_ in self._open:
            return f"{item} {id_[1] if isinstance(id_, tuple) else id_}"
        return None

    def chunk(
        self,
        item: Item,
        id_: str | None,
        owner: Owner,
        said: str | None,
        *,
        default: str | None,
        **details: str | None,
    ) -> tuple[str, bool]:
        """The id of the item that a chunk belongs to, and whether it opens it.

        Args:
            item: What the chunk is a piece of.
            id_: Which one; None: the one that is open in its lane.
            owner: The tag of the chunk.
            said: What the chunk says of its item; None: nothing.
            default: What an opening chunk that says nothing means; None: it must say it.
            details: What else it says; a later chunk may repeat it, and not change it.
        """
        owner = self._lane_of(item, id_, owner)
        known = {name: value for name, value in details.items() if value is not None}
        lane = self._lanes.get(owner)
        if lane is not None and lane.item is item and id_ in (None, lane.id):
            if said not in (None, lane.said):
                raise Contradiction(f"{item} {lane.id} was opened as {lane.said}, not {said}")
            if lane.details | known != known | lane.details:  # one of them has two values
                raise Contradiction(f"{item} {lane.id} was opened with other details")
            return lane.id, False
        said = default if said is None else said
        if id_ is None or said is None:
            raise Contradiction(f"the first chunk of a {item} does not say which")
        self.close_lane(owner)
        self.open(item, id_, owner, said)
        self._lanes[owner] = _Lane(item, id_, said, known)
        return id_, True

    def close_lane(self, owner: Owner) -> None:
        """Something that is no chunk arrived: the chunks of this lane are over."""
        lane = self._lanes.pop(owner, None)
        if lane is not None:
            self._open.pop((lane.item, lane.id), None)

    def close_lanes(self) -> None:
        """Something about the run itself arrived: all chunks are over."""
        for owner in list(self._lanes):
            self.close_lane(owner)

    def _lane_of(self, item: Item, id_: str | None, owner: Owner) -> Owner:
        if owner is not None:
            return owner
        candidates = [
            owner
            for owner, lane in self._lanes.items()
            if lane.item is item and id_ in (None, lane.id)
        ]
        if None in candidates or not candidates:
            return None
        if len(candidates) > 1:
            raise Contradiction(f"a chunk that could continue any of several {item}s")
        return candidates[0]


def _key(item: Item, id_: str, owner: Owner) -> tuple[Item, object]:
    # Steps of one name may be open at once, one for each owner.
    return (item, (owner, id_)) if item is Item.STEP else (item, id_)
