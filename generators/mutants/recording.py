"""The recording: every edge of the exploration of the right machine, to be replayed by wrong ones.

Exploring asks the declaration at each edge what is expected. For thousands of mutants the answer
is always the same, so it is asked once: the edges are kept as a tree, in breadth-first order, and
a mutant only has to run along it. The first edge on which it differs ends a shortest stream of
that layer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Final

from doneness.generators.exploration import LAYERS, RUN, Layer, explore
from doneness.generators.moves import TEMPLATES, Template, play
from doneness.generators.oracle import END_OF_TRANSPORT, NOT_NEXT, OBSERVABLES, Move, Oracle
from doneness.generators.subject import forked, own_subjects
from doneness.spec.lifecycle import LIFECYCLE
from doneness.spec.toolcall import UNREQUESTED

_VALUES: Final = attrgetter(*OBSERVABLES)


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of the tree.

    Attributes:
        parent: Where it goes on from: the index of an earlier edge; -1 for the start.
        goes_on: Whether later edges go on from here.
        given: What is fed: an event, its bytes, or the end of the connection.
        expected: What must be shown then, in the order of `OBSERVABLES`.
        template: What the event was made from.
        decisions: What the declaration decided there: state and trigger, or a step.
        facts: On which facts; and whether there was an issue before.
    """

    parent: int
    goes_on: bool
    given: object
    expected: tuple[object, ...]
    template: Template
    decisions: tuple[tuple[str, ...], ...]
    facts: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """The edges of one layer, each after the edges that lead to it."""

    layer: str
    as_bytes: bool
    edges: Sequence[Edge]

    def first_difference(
        self, factory: Callable[[str], Any], before_each: Callable[[], object] = lambda: None
    ) -> tuple[list[Template], str] | None:
        """The stream up to the first edge on which a reducer differs, and how it does."""
        try:
            reached: dict[int, Any] = {-1: factory(RUN)}
        except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
            return [], f"raised {type(error).__name__}: {error}"
        for place, edge in enumerate(self.edges):
            before_each()
            reducer = forked(reached[edge.parent])
            try:
                if edge.given is END_OF_TRANSPORT:
                    reducer.close_transport()
                elif self.as_bytes:
                    reducer.feed_json(edge.given)
                else:
                    reducer.feed(edge.given)
                shown = _VALUES(reducer)
            except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
                return self.stream(place), f"raised {type(error).__name__}: {error}"
            if shown != edge.expected:
                return self.stream(place), _explained(edge.expected, shown)
            if edge.goes_on:
                reached[place] = reducer
        return None

    def stream(self, place: int) -> list[Template]:
        """The templates that lead to an edge, its own the last."""
        templates: list[Template] = []
        while place >= 0:
            templates.append(self.edges[place].template)
            place = self.edges[place].parent
        return templates[::-1]


class RedBaselineError(RuntimeError):
    """The unchanged machine fails a check, so that no mutant can be judged by it."""


@cache
def record(layer: Layer, *, as_bytes: bool) -> Recording:
    """The exploration of a layer with the right machine.

    Raises:
        RedBaselineError: the machine is not right.
    """
    subject = own_subjects()[as_bytes]
    found = explore(subject, layer)
    if found.differences or not found.complete:
        raise RedBaselineError(
            f"exploration/{layer.name} fails on the machine as it is; make it pass first"
        )
    edges: list[Edge] = []
    places: dict[tuple[str, ...], int] = {(): -1}
    ends = {tuple(template.name for template in path) for path in found.paths}
    alphabet = [template for template in TEMPLATES if layer.picks(template)]
    for path in found.paths:
        oracle = Oracle(RUN)
        play(oracle, path)
        names = tuple(template.name for template in path)
        parent = places[names]
        for template in alphabet:
            move = template.make(oracle)
            if move is None or not subject.takes(move):
                continue
            after = oracle.fork()
            decided = decisions(oracle, after, move)
            longer = (*names, template.name)
            if longer in ends:
                places[longer] = len(edges)
            given = move.event
            if as_bytes and given is not END_OF_TRANSPORT:
                given = json.dumps(given).encode()
            expected = after.observables()
            edges.append(
                Edge(
                    parent,
                    longer in ends,
                    given,
                    tuple(expected[name] for name in OBSERVABLES),
                    template,
                    decided,
                    _facts(oracle, move),
                )
            )
    return Recording(layer.name, as_bytes, tuple(edges))


def recordings() -> list[Recording]:
    """All layers, the small ones first; as bytes too where parsing matters."""
    order = sorted(LAYERS, key=lambda layer: (not layer.parsing, layer.name != "payloads"))
    objects = [record(layer, as_bytes=False) for layer in order]
    return objects + [record(layer, as_bytes=True) for layer in order if layer.parsing]


def decisions(before: Oracle, after: Oracle, move: Move) -> tuple[tuple[str, ...], ...]:
    """What is decided when a move is taken; and the state it leads to."""
    decision = after.take(move)
    if decision.step is not None:
        return (after.state,), (decision.step.catches,)
    trigger = str(decision.trigger)
    found: list[tuple[str, ...]] = [(after.state,), (decision.state, trigger)]
    if not move.in_order:
        found.append((NOT_NEXT,))
    if "call_id" in move.args and LIFECYCLE.state(decision.state).group == "live":
        found.append((before.tools.get(str(move.args["call_id"]), UNREQUESTED), trigger))
    return tuple(found)


def _facts(oracle: Oracle, move: Move) -> tuple[bool, ...]:
    rows = LIFECYCLE.rows_for(oracle.state, str(move.trigger)) if move.caught is None else ()
    named = sorted({guard.removeprefix("not ") for row in rows for guard in row.guards})
    return bool(oracle.issues), *(oracle.holds(fact, move) for fact in named)


def _explained(expected: tuple[object, ...], shown: tuple[object, ...]) -> str:
    return "; ".join(
        f"{name}: declared {_short(want)}, shown {_short(have)}"
        for name, want, have in zip(OBSERVABLES, expected, shown, strict=True)
        if want != have
    )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"
