"""Judging a changed table: only what lies behind the changed row is explored.

The exploration of the unchanged declaration is done once. Of every joint step it keeps the
declaration's state before, the move, what the machine showed after (what is declared, else the
baseline is red) and what decided the step. A changed row matters only where it decides, or leaves
the decision to a lower row: just those steps are taken again.

A step after which the changed declaration expects something else ends a stream that tells. If
what is expected is the same, and only the declaration's state is another, the machine and the
changed declaration go on side by side, under every event, until nothing new is found. A change
that survives this is one that no stream of these layers can show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from doneness.generators.exploration import LAYERS, RUN, Layer
from doneness.generators.moves import TEMPLATES
from doneness.generators.mutants.recording import record
from doneness.generators.mutants.tables import TableMutant, changed
from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES, Move, Oracle
from doneness.generators.subject import forked
from doneness.machine import Progress

EVENTS_MAX: Final = 100
"""The fixpoint comes far earlier: a bound on the search, not on what it finds."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One joint step of the unchanged declaration and the machine.

    Attributes:
        path: What led there.
        state: The declared state after it.
        shown: What the machine showed after it.
    """

    layer: Layer
    path: Sequence[Move]
    before: Oracle
    move: Move
    state: str
    shown: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Apart:
    """The changed declaration and the machine, which showed the same and are no longer alike."""

    layer: Layer
    oracle: Oracle
    progress: Progress


def judge_table(mutant: TableMutant) -> int | None:
    """How many events tell the changed table from the right one.

    None where none do: behind every step that the changed row decides, the machine shows for ever
    what the changed declaration expects.
    """
    behind = _steps()[mutant.decided]
    with changed(mutant):
        return _fewest(behind)


def _fewest(behind: Mapping[int, Sequence[_Step]]) -> int | None:
    """The length of a shortest stream that tells: of recorded steps, or going on from them."""
    frontier: list[_Apart] = []
    seen: set[Hashable] = set()
    for events in range(1, EVENTS_MAX):
        reached: list[_Apart] = []
        for step in behind.get(events, ()):
            after = step.before.fork()
            if not _takes_as_shown(after, step.move, step.shown):
                return events
            if after.state != step.state and _is_new(step.layer, after, seen):
                reached.append(_Apart(step.layer, after, _machine_after(step)))
        for apart in frontier:
            for move in _moves(apart):
                after, progress = apart.oracle.fork(), forked(apart.progress)
                _feed(progress, move)
                shown = {name: getattr(progress, name) for name in OBSERVABLES}
                if not _takes_as_shown(after, move, shown):
                    return events
                if _is_new(apart.layer, after, seen):
                    reached.append(_Apart(apart.layer, after, progress))
        frontier = reached
        if not frontier and events >= max(behind, default=0):
            return None
    raise RuntimeError(f"no fixpoint after {EVENTS_MAX} events: the abstraction is not finite")


def _takes_as_shown(oracle: Oracle, move: Move, shown: Mapping[str, object]) -> bool:
    """Take a move; whether what is expected then is what is shown.

    Not so either if the changed tables leave the pair to nobody.
    """
    try:
        oracle.take(move)
    except LookupError:
        return False
    return all(shown[name] == getattr(oracle, name) for name in OBSERVABLES)


def _moves(apart: _Apart) -> Iterator[Move]:
    for template in TEMPLATES:
        if apart.layer.picks(template):
            move = template.make(apart.oracle)
            if move is not None:
                yield move


def _feed(progress: Progress, move: Move) -> None:
    if move.event is END_OF_TRANSPORT:
        progress.close_transport()
    else:
        progress.feed(move.event)


def _machine_after(step: _Step) -> Progress:
    """The machine behind a step; its moves were made by the unchanged declaration."""
    progress = Progress(RUN)
    for move in step.path:
        _feed(progress, move)
    _feed(progress, step.move)
    return progress


def _is_new(layer: Layer, oracle: Oracle, seen: set[Hashable]) -> bool:
    """Whether the two were not here before.

    Beside what the layer holds equal: what tells the machine's state, now that the declaration's
    is another.
    """
    facts = (
        oracle.terminal,
        oracle.verdict,
        oracle.closed,
        oracle.waiting,
        oracle.cancel_requested,
        oracle.unresolved,
        oracle.recovered,
    )
    key = (layer.name, layer.key(oracle), facts)
    if key in seen:
        return False
    seen.add(key)
    return True


@cache
def _steps() -> Mapping[tuple[str, ...], Mapping[int, Sequence[_Step]]]:
    """Every step of every layer, by what decided it and by the length of its stream."""
    found: dict[tuple[str, ...], dict[int, list[_Step]]] = defaultdict(lambda: defaultdict(list))
    for layer in LAYERS:
        recording = record(layer, as_bytes=False)
        before: dict[int, tuple[Oracle, tuple[Move, ...]]] = {-1: (Oracle(RUN), ())}
        for place, edge in enumerate(recording.edges):
            oracle, path = before[edge.parent]
            move = edge.template.make(oracle)
            if move is None:
                raise RuntimeError(f"{edge.template.name} was recorded, and cannot be made again")
            after = oracle.fork()
            after.take(move)
            if edge.goes_on:
                before[place] = (after, (*path, move))
            shown = dict(zip(OBSERVABLES, edge.expected, strict=True))
            step = _Step(layer, path, oracle, move, after.state, shown)
            for decided in edge.decisions:
                found[decided][len(path) + 1].append(step)
    return found
