"""From a chart to a drawing that can be read.

A table of fourteen states and nineteen triggers decides several hundred pairs; a picture of them
all is true and useless. So by default

- what every state of a group does alike is drawn once, from a box `any … state`;
- parallel arrows share one edge, and triggers with the same condition share one phrase;
- what moves nothing, and what is refused, is said in the legend.

`full` draws the last as well. An arrow that somebody marked (a change, a step of a case) is
never folded away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from doneness.diagrams.drawing import Drawing, Edge, Mark, Node, Shape
from doneness.diagrams.model import Arrow, Chart, Place
from doneness.diagrams.words import phrases, said

GROUP_MIN = 3
"""Fewer arrows that move are not drawn from `any … state`: it would save nothing."""

ANY = "any:"
ISSUE = "issue"
"""The name of the node where refused events lead."""


@dataclass(frozen=True, slots=True)
class Note:
    """What an overlay says about an arrow.

    Attributes:
        words: What stands before the arrow's own words, such as the numbers of a case's steps.
        after: What stands behind them.
    """

    mark: Mark = Mark.NONE
    words: str = ""
    after: str = ""
    pale: bool = False
    width: float = 1.0


PLAIN = Note()


def fold(
    chart: Chart,
    notes: Mapping[Arrow, Note] | None = None,
    *,
    full: bool = False,
    marks: Mapping[str, Mark] | None = None,
) -> Drawing:
    """The drawing of a chart.

    Args:
        chart: What is drawn.
        notes: What an overlay says about some arrows; these are drawn in any case.
        full: Draw every arrow, also those that move nothing or are refused.
        marks: Marks on states, by name.
    """
    notes = notes or {}
    marks = marks or {}
    drawn = [
        a for a in chart.arrows if full or a.moves or notes.get(a, PLAIN).mark is not Mark.NONE
    ]
    left_over = [arrow for arrow in chart.arrows if arrow not in set(drawn)]
    lifted = _lift(chart, drawn, notes)
    within = {
        any_of(group): tuple(phrases(_staying(lifted, any_of(group)), chart.triggers))
        for group in chart.groups()
    }
    lifted = [a for a in lifted if a.refused or a.source != a.target or a.source not in within]
    nodes = [_node(place, marks.get(place.name, Mark.NONE)) for place in chart.places]
    for group in chart.groups():
        name = any_of(group)
        if within[name] or any(arrow.source == name for arrow in lifted):
            stays = tuple(f"stays on {phrase}" for phrase in within[name])
            nodes.append(
                Node(name, f"any {group} state", group=group, shape=Shape.ANY, within=stays)
            )
    if any(arrow.refused for arrow in lifted):
        nodes.append(Node(ISSUE, "refused", shape=Shape.ISSUE))
    return Drawing(
        name=chart.name,
        title=chart.title,
        initial=chart.initial,
        nodes=tuple(nodes),
        edges=_edges(chart, lifted, notes),
        main_line=chart.main_line,
        legend=tuple(_legend(chart, nodes, left_over)),
    )


def any_of(group: str) -> str:
    """The name of the node that stands for all states of a group."""
    return f"{ANY}{group}"


def _staying(arrows: Iterable[Arrow], name: str) -> list[Arrow]:
    """What leaves every state of a group as it is; a loop on its box would mean something else."""
    return [a for a in arrows if (a.source, a.target, a.refused) == (name, name, None)]


def _node(place: Place, mark: Mark) -> Node:
    return Node(
        place.name,
        place.name,
        group=place.group,
        shows=place.shows if place.hidden else None,
        final=place.final,
        mark=mark,
    )


def _lift(chart: Chart, arrows: Sequence[Arrow], notes: Mapping[Arrow, Note]) -> list[Arrow]:
    """Replace arrows that every state of a group has by one from the node that stands for all.

    A state that is itself where the arrow leads needs only to stay on the trigger. Of a larger
    group one state may differ in where it goes: then its own edge says so, and the lifted one
    names it.
    """
    result = list(arrows)
    alike: dict[Arrow, list[Arrow]] = {}
    for arrow in arrows:
        if notes.get(arrow, PLAIN) == PLAIN:
            alike.setdefault(_form(arrow), []).append(arrow)
    staying = {(a.source, a.trigger) for a in chart.arrows if not a.moves and not a.refused}
    for group, members in chart.groups().items():
        for form, family in alike.items():
            inside = [arrow for arrow in family if arrow.source in members]
            there = {arrow.source for arrow in inside}
            excepted = [
                name
                for name in members
                if name not in there
                and (name, form.trigger) not in staying & {(form.target, form.trigger)}
            ]
            speaks = {a.source for a in arrows if a.trigger == form.trigger and a.moves}
            if (
                len(inside) >= (GROUP_MIN if form.target else 2)
                and len(excepted) <= (1 if form.target else 0)
                and speaks.issuperset(excepted)
            ):
                source = any_of(group)
                lifted = msgspec.structs.replace(
                    form,
                    source=source,
                    target=form.target or source,
                    guards=(*form.guards, *(f"not in {name}" for name in excepted)),
                )
                result[result.index(inside[0])] = lifted
                result = [arrow for arrow in result if arrow not in inside]
    return result


def _form(arrow: Arrow) -> Arrow:
    """The arrow without its source; without a target either where nothing moves."""
    target = arrow.target if arrow.moves else ""
    return msgspec.structs.replace(arrow, source="", target=target, effects=())


def _edges(chart: Chart, arrows: Iterable[Arrow], notes: Mapping[Arrow, Note]) -> tuple[Edge, ...]:
    parallel: dict[tuple[str, str, bool, Note], list[Arrow]] = {}
    for arrow in arrows:
        target = ISSUE if arrow.refused else arrow.target
        key = (arrow.source, target, arrow.refused is not None, notes.get(arrow, PLAIN))
        parallel.setdefault(key, []).append(arrow)
    main = set(zip(chart.main_line, chart.main_line[1:], strict=False))
    return tuple(
        Edge(
            source,
            target,
            phrases=tuple(
                f"{note.mark.sign}{note.words}{phrase}{note.after}"
                for phrase in phrases(together, chart.triggers)
            ),
            mark=note.mark,
            main=(source, target) in main,
            refused=refused,
            pale=note.pale,
            width=note.width,
        )
        for (source, target, refused, note), together in parallel.items()
    )


def _legend(chart: Chart, nodes: Sequence[Node], left_over: Sequence[Arrow]) -> Iterable[str]:
    """What the shapes mean, and what is not drawn."""
    if any(node.final for node in nodes):
        yield "Double border: the machine may rest there for good."
    stays = [arrow for arrow in left_over if not arrow.refused]
    if stays:
        yield f"Moves nothing: {_stays(chart, stays)}."
    if any(arrow.refused for arrow in left_over):
        yield REFUSED_WITH_STATUS if any(place.shows for place in chart.places) else REFUSED


REFUSED = "Everything else is refused: an issue goes on record, and nothing moves."
REFUSED_WITH_STATUS = f"{REFUSED[:-1]}; the status of the run is unknown for good."


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
