"""A declared machine as plain data: what every picture is made from.

Chart <- extract <- a declaration; chart -> drawing -> renderers. A chart knows nothing of the form
that its declaration had, so a machine declared in another form, or by another revision of the
project in another process (`--diff`), is the same kind of thing: text, and JSON without loss.
"""

from __future__ import annotations

import msgspec


class Place(msgspec.Struct, frozen=True):
    """A state.

    Attributes:
        group: `live`, `ended` or `unknown`, or what else the declaration puts together.
        shows: The status that a person sees in this state; None where there are no statuses.
        final: Whether the machine may rest here for good.
    """

    name: str
    group: str = "live"
    meaning: str = ""
    shows: str | None = None
    final: bool = False

    @property
    def hidden(self) -> bool:
        """Whether a person sees another word than the name of the state."""
        return self.shows not in {None, self.name}


class Arrow(msgspec.Struct, frozen=True):
    """What one trigger does in one state, under its guards.

    Attributes:
        target: The next state; `source` again where nothing moves.
        guards: Facts that must hold (`not x`: must not), all of them.
        refused: The issue that is recorded where the event is refused; None where it is accepted.
        otherwise: The arrow takes what its pair's other arrows leave over.
    """

    source: str
    trigger: str
    target: str
    guards: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    refused: str | None = None
    otherwise: bool = False

    @property
    def moves(self) -> bool:
        """Whether the machine is in another state afterwards."""
        return self.refused is None and self.target != self.source


class Chart(msgspec.Struct, frozen=True):
    """A machine: its states, and an arrow for everything that is decided about them.

    Attributes:
        main_line: The states of the good end, in order; empty where there is no such line.
        facts: The facts that guards name, each with its meaning.
    """

    name: str
    title: str
    initial: str
    places: tuple[Place, ...]
    triggers: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    main_line: tuple[str, ...] = ()
    facts: dict[str, str] = {}

    def place(self, name: str) -> Place:
        """The state of that name.

        Raises:
            KeyError: there is none.
        """
        for place in self.places:
            if place.name == name:
                return place
        raise KeyError(name)

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The names of the states of each group, in order of declaration."""
        groups: dict[str, tuple[str, ...]] = {}
        for place in self.places:
            groups[place.group] = (*groups.get(place.group, ()), place.name)
        return groups
