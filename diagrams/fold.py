"""From a chart to a drawing that can be read.

A table of fourteen states and twenty triggers decides several hundred pairs; a picture of them
all is true and useless. So by default

- what every state of a group does alike is drawn once, from a box `any … state`;
- parallel arrows share one edge, and triggers with the same condition share one phrase;
- what moves nothing, and what is refused, is said in the legend.

`full` draws the last as well. An arrow that an overlay marks (a change, a step of a case) is
never left to the legend.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from doneness.diagrams.drawing import Drawing, Edge, Mark, Node, Shape
from doneness.diagrams.model import Arrow, Chart, Place
from doneness.diagrams.overlay import NOTHING, Note, Overlay
from doneness.diagrams.words import phrases, said

GROUP_MIN: Final = 3
"""Fewer arrows that move are not drawn from `any … state`: it would save nothing."""

ANY: Final = "any:"
ISSUE: Final = "issue"
"""The name of the node where refused events lead."""

REFUSED: Final = "Everything else is refused: nothing moves, and an issue goes on record"

ALIKE_MIN: Final = 2
"""So many things some states must do alike to get a box of their own."""

_Lifted = Mapping[Arrow, tuple[Arrow, ...]]


def fold(chart: Chart, overlay: Overlay = NOTHING, *, full: bool = False) -> Drawing:
    """The drawing of a chart.

    Args:
        chart: What is drawn.
        overlay: What is drawn on top of it.
        full: Draw every arrow, also those that move nothing or are refused.
    """
    drawn = [a for a in chart.arrows if full or a.moves or overlay.note(a).mark is not Mark.NONE]
    folded = [arrow for arrow in chart.arrows if arrow not in set(drawn)]
    lifted = lift(chart, drawn, overlay)
    nodes = (*_nodes(chart, overlay, lifted), *overlay.nodes)
    legend = [*overlay.legend, *_legend(chart, [] if overlay.pale else folded)]
    return Drawing(
        name=chart.name,
        title=chart.title,
        initial=chart.initial,
        nodes=nodes,
        edges=(*_edges(chart, overlay, lifted), *overlay.edges),
        main_line=chart.main_line,
        legend=tuple(legend),
        table=overlay.table,
    )


def any_of(group: str, names: Iterable[str] = ()) -> str:
    """The name of the node that stands for all states of a group, or for some."""
    return f"{ANY}{group}{'/' if names else ''}{'+'.join(names)}"


def members(chart: Chart, node: str) -> tuple[str, ...]:
    """The states that such a node stands for."""
    group, _, some = node.removeprefix(ANY).partition("/")
    return tuple(some.split("+")) if some else chart.groups()[group]


def lift(chart: Chart, arrows: Sequence[Arrow], overlay: Overlay = NOTHING) -> _Lifted:
    """The arrows to draw, each with those it stands for: itself, or those of several states.

    A state that is itself where the arrow leads needs only to stay on the trigger; a state from
    where a case takes the arrow has it, though it is drawn apart. Of a larger group one state may
    differ in where it goes: then its own edge says so, and the lifted arrow names it. States that
    are less than a group get a box of their own if they do at least two things alike.
    """
    result: dict[Arrow, tuple[Arrow, ...]] = {arrow: (arrow,) for arrow in arrows}
    for group, states in chart.groups().items():
        families = list(_families_of(chart, arrows, overlay, states))
        whole = [family for family in families if family.is_of_all(arrows, states)]
        parts = [family for family in families if family not in whole]
        parts = [family for family in parts if len(family.inside) >= GROUP_MIN]
        alike = Counter(family.box for family in parts)
        for family in whole:
            excepted = [name for name in states if name not in family.there]
            result = family.replaced(result, any_of(group), excepted)
        for family in parts:
            if alike[family.box] >= ALIKE_MIN:
                result = family.replaced(result, any_of(group, family.sources), ())
    return result


@dataclass(frozen=True, slots=True)
class _Family:
    """Arrows of one group that differ in their source alone.

    Attributes:
        form: What they have in common.
        inside: The arrows.
        there: The states that do so, in order, with those that are where the arrow leads.
    """

    form: Arrow
    inside: tuple[Arrow, ...]
    there: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """The states that the arrows leave."""
        return tuple(arrow.source for arrow in self.inside)

    @property
    def box(self) -> tuple[bool, tuple[str, ...]]:
        """What a box of their own would stand for; what is refused does not make one for moves."""
        return self.form.refused is not None, self.sources

    def is_of_all(self, arrows: Sequence[Arrow], states: Sequence[str]) -> bool:
        """Whether a node for the whole group may have it."""
        excepted = {name for name in states if name not in self.there}
        speaks = {a.source for a in arrows if a.trigger == self.form.trigger and a.moves}
        enough = GROUP_MIN if self.form.target else 2
        exceptions_max = 1 if self.form.target else 0
        return len(self.inside) >= enough and len(excepted) <= exceptions_max and speaks >= excepted

    def replaced(
        self, lifted: _Lifted, source: str, excepted: Sequence[str]
    ) -> dict[Arrow, tuple[Arrow, ...]]:
        """The arrows to draw, with one from `source` in the place of these."""
        one = msgspec.structs.replace(
            self.form,
            source=source,
            target=self.form.target or source,
            guards=(*self.form.guards, *(f"not in {name}" for name in excepted)),
        )
        first, rest = self.inside[0], self.inside[1:]
        return {
            (one if arrow == first else arrow): (self.inside if arrow == first else stands)
            for arrow, stands in lifted.items()
            if arrow not in rest
        }


def _families_of(
    chart: Chart, arrows: Sequence[Arrow], overlay: Overlay, states: Sequence[str]
) -> Iterator[_Family]:
    alike: dict[tuple[Arrow, Note], list[Arrow]] = {}
    walked: set[tuple[Arrow, str]] = set()
    for arrow in arrows:
        note = overlay.note(arrow)
        if note.mark is Mark.WALKED:
            walked.add((_form(arrow), arrow.source))
        elif arrow.source in states:
            alike.setdefault((_form(arrow), note), []).append(arrow)
    staying = {(a.source, a.trigger) for a in chart.arrows if not a.moves and not a.refused}
    for (form, _), inside in alike.items():
        there = {arrow.source for arrow in inside}
        there |= {name for name in states if (form, name) in walked}
        if (form.target, form.trigger) in staying:
            there.add(form.target)
        yield _Family(form, tuple(inside), tuple(name for name in states if name in there))


def _form(arrow: Arrow) -> Arrow:
    """The arrow without its source; without a target either where nothing moves."""
    target = arrow.target if arrow.moves else ""
    return msgspec.structs.replace(arrow, source="", target=target, effects=())


def _nodes(chart: Chart, overlay: Overlay, lifted: _Lifted) -> Iterator[Node]:
    for place in chart.places:
        yield _state(place, overlay)
    for name in dict.fromkeys(arrow.source for arrow in lifted if arrow.source.startswith(ANY)):
        group, _, some = name.removeprefix(ANY).partition("/")
        stays, mark = _stays_in_box(chart, overlay, lifted, name)
        yield Node(
            name,
            f"any of {some.replace('+', ', ')}" if some else f"any {group} state",
            group=group,
            shape=Shape.ANY,
            within=stays,
            mark=mark,
            pale=overlay.pale and mark is Mark.NONE,
        )
    if any(arrow.refused for arrow in lifted):
        shows = "unknown" if _has_statuses(chart) else None
        mark = overlay.marks.get(ISSUE, Mark.NONE)
        yield Node(ISSUE, "refused", shape=Shape.ISSUE, shows=shows, mark=mark)


def _state(place: Place, overlay: Overlay) -> Node:
    mark = overlay.marks.get(place.name, Mark.NONE)
    return Node(
        place.name,
        place.name,
        group=place.group,
        shows=place.shows if place.hidden else None,
        final=place.final,
        mark=mark,
        pale=overlay.pale and mark is Mark.NONE,
    )


def _stays_in_box(
    chart: Chart, overlay: Overlay, lifted: _Lifted, name: str
) -> tuple[tuple[str, ...], Mark]:
    """What leaves every state of a group as it is; a loop on its box would mean something else."""
    notes: dict[Note, list[Arrow]] = {}
    for arrow, stands in lifted.items():
        if (arrow.source, arrow.target, arrow.refused) == (name, name, None):
            notes.setdefault(overlay.note(stands[0]), []).append(arrow)
    stays = tuple(
        f"{note.mark.sign}stays on {phrase}{note.after}{_counted(together, lifted, overlay)}"
        for note, arrows in notes.items()
        for phrase, together in phrases(arrows, chart.triggers)
    )
    return stays, max((note.mark for note in notes), default=Mark.NONE)


def _edges(chart: Chart, overlay: Overlay, lifted: _Lifted) -> Iterator[Edge]:
    parallel: dict[tuple[str, str, bool, Mark, bool], dict[Note, list[Arrow]]] = {}
    for arrow, stands in lifted.items():
        if arrow.source.startswith(ANY) and arrow.source == arrow.target and not arrow.refused:
            continue  # said in the box
        note = overlay.note(stands[0])
        mark = note.mark
        if overlay.count is not None and not any(map(overlay.count, stands)):
            mark = Mark.MISSED
        target = ISSUE if arrow.refused else arrow.target
        key = (arrow.source, target, arrow.refused is not None, mark, note.pale)
        parallel.setdefault(key, {}).setdefault(note, []).append(arrow)
    main = set(zip(chart.main_line, chart.main_line[1:], strict=False))
    for (source, target, refused, mark, pale), notes in parallel.items():
        together = [arrow for arrows in notes.values() for arrow in arrows]
        strong = (source, target) in main or mark is not Mark.NONE
        yield Edge(
            source,
            target,
            phrases=tuple(
                f"{mark.sign}{note.words}{phrase}{note.after}{_counted(said_of, lifted, overlay)}"
                for note, arrows in sorted(notes.items(), key=lambda item: item[0].order)
                for family in _families(arrows, overlay, refused=refused)
                for phrase, said_of in phrases(family, chart.triggers)
            ),
            mark=mark,
            main=(source, target) in main,
            refused=refused,
            pale=pale,
            width=_width(together, lifted, overlay, strong=strong),
        )


def _taken(arrows: Iterable[Arrow], lifted: _Lifted, overlay: Overlay) -> list[int]:
    """How often each of the arrows that these stand for was taken."""
    if overlay.count is None:
        return []
    return [overlay.count(arrow) for one in arrows for arrow in lifted[one]]


def _counted(arrows: Iterable[Arrow], lifted: _Lifted, overlay: Overlay) -> str:
    taken = _taken(arrows, lifted, overlay)
    if not taken:
        return ""
    never = taken.count(0)
    return f" ×{sum(taken):,}" + (f" ({never} never)" if never and sum(taken) else "")


def _width(arrows: Iterable[Arrow], lifted: _Lifted, overlay: Overlay, *, strong: bool) -> float:
    """Strong or not; where arrows are counted, a step more for each factor of ten."""
    if overlay.count is None:
        return 1.8 if strong else 1.0
    taken = sum(_taken(arrows, lifted, overlay))
    return 1.0 if taken == 0 else round(0.6 + 0.8 * math.log10(taken), 1)


def _families(
    arrows: Sequence[Arrow], overlay: Overlay, *, refused: bool
) -> Sequence[Sequence[Arrow]]:
    """Arrows that share their words; moves that are counted stand apart."""
    return [arrows] if overlay.count is None or refused else [[arrow] for arrow in arrows]


def _has_statuses(chart: Chart) -> bool:
    return any(place.shows for place in chart.places)


def _legend(chart: Chart, folded: Sequence[Arrow]) -> Iterator[str]:
    """What is not drawn."""
    stays = [arrow for arrow in folded if not arrow.refused]
    if stays:
        yield f"Moves nothing: {_stays(chart, stays)}."
    if any(arrow.refused for arrow in folded):
        yield (
            f"{REFUSED}; the status is unknown for good." if _has_statuses(chart) else f"{REFUSED}."
        )


def _stays(chart: Chart, arrows: Sequence[Arrow]) -> str:
    """The triggers that leave their states, and which states these are."""
    places: dict[str, list[str]] = {}
    for arrow in arrows:
        places.setdefault(arrow.trigger, []).append(arrow.source)
    triggers: dict[tuple[str, ...], list[str]] = {}
    for trigger, names in places.items():
        triggers.setdefault(tuple(dict.fromkeys(names)), []).append(trigger)
    return "; ".join(
        f"{', '.join(said(together, chart.triggers))} in {_where(chart, names)}"
        for names, together in triggers.items()
    )


def _where(chart: Chart, names: Sequence[str]) -> str:
    """The states in few words, exactly: `any live state but a`, or one by one."""
    if len(names) == len(chart.places):
        return "any state"
    words: list[str] = []
    for group, members in chart.groups().items():
        inside = [name for name in members if name in names]
        missing = [name for name in members if name not in names]
        if len(inside) >= GROUP_MIN and len(missing) <= 1:
            words.append(f"any {group} state" + (f" but {missing[0]}" if missing else ""))
        elif inside and len(inside) == len(members) > 1:
            words.append(f"any {group} state")
        else:
            words.extend(inside)
    return ", ".join(words)
