"""The product of declaration and reducer, explored breadth first to a fixpoint.

Every event of the alphabet is tried in every joint state that can be reached; after each, all
that the subject shows must be what the declaration says. Two traces that lead to the same
abstract state are followed only once, so what makes states *the same* is part of the claim: it is
stated per layer, printed with the result, and tested (two concrete states held equal must behave
alike).

One layer cannot tell everything apart and stay small, so there are several, each rich where the
others are poor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from doneness.generators.haste import PATIENT, Haste
from doneness.generators.moves import TEMPLATES, Template
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Snapshot, Subject
from doneness.spec.lifecycle import LIFECYCLE

RUN: Final = "run-A"


@dataclass(frozen=True, slots=True)
class Layer:
    """One abstraction to explore.

    Attributes:
        claim: What makes two states the same, with the caps, in words.
        key: The abstract state of the declaration.
        picks: Which templates are tried.
        hidden: Whether the reducer's own abstract state is part of the joint state.
        congruent: Whether states that are held equal behave alike; otherwise the layer only
            tries what others do not, and claims no more.
        parsing: Whether it says something of a subject's parsing, and not only of its states.
        answers: For which of the templates it tries the abstraction is exact, so that what it
            found behind one trace holds behind every other one that leads to the same state.
    """

    name: str
    claim: str
    key: Callable[[Oracle], Hashable]
    picks: Callable[[Template], bool]
    hidden: bool = True
    parsing: bool = False
    congruent: bool = True
    answers: Callable[[Template], bool] = lambda _template: True


@dataclass(frozen=True, slots=True)
class Difference:
    """A trace after which a subject shows something else than the declaration says."""

    templates: tuple[Template, ...]
    moves: tuple[Move, ...]
    expected: dict[str, object]
    shown: Snapshot


@dataclass
class Exploration:
    """What an exploration found out.

    Attributes:
        pairs: How often each (lifecycle state, trigger) was decided.
        rows: How often each row of the lifecycle's table fired, by its place there.
        steps: How often each step of admission caught an event.
        complete: Whether the fixpoint was reached.
        paths: A shortest way to each state.
    """

    layer: str
    states: int = 0
    edges: int = 0
    depth: int = 0
    complete: bool = True
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    rows: Counter[int] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    paths: list[tuple[Template, ...]] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


_PLACES: Final = {id(row): place for place, row in enumerate(LIFECYCLE.rows)}

_HASTY_BATCH: Final = 100

NUMBERS_MAX: Final = 12
COUNTS_MAX: Final = 2
REMEMBERED_MAX: Final = 2


def _lifecycle_key(oracle: Oracle) -> Hashable:
    if oracle.terminal is not None or oracle.closed:  # nothing else decides what can still happen
        return (oracle.state, oracle.closed, bool(oracle.issues), oracle.final_text)
    return (
        oracle.state,
        tuple(sorted(oracle.tools.values())),
        oracle.waiting,
        oracle.cancel_requested,
        bool(oracle.issues),
    )


def _payload_key(oracle: Oracle) -> Hashable:
    return (oracle.state, oracle.closed, bool(oracle.issues))


def _evidence_key(oracle: Oracle) -> Hashable:
    return (frozenset(oracle.issues), oracle.closed, oracle.terminal, bool(oracle.remembered))


BEGINNING_MAX: Final = 2


def _beginning(oracle: Oracle) -> Hashable:
    """Exactly how the run began, while it is short and nothing else happened."""
    events: list[Any] = list(oracle.remembered.values())
    if oracle.duplicates or oracle.foreign or oracle.closed:
        return None
    if max(oracle.last_seq, len(events)) > BEGINNING_MAX:
        return None
    return tuple(
        (event["seq"], event["kind"], event["id"] == f"{RUN}:{event['seq']}") for event in events
    )


def _beginning_key(oracle: Oracle) -> Hashable:
    return (_beginning(oracle), bool(oracle.issues), oracle.closed)


def _numbers_key(oracle: Oracle) -> Hashable:
    return (
        min(oracle.last_seq, NUMBERS_MAX),
        min(oracle.duplicates, COUNTS_MAX),
        min(oracle.foreign, COUNTS_MAX),
        min(len(oracle.remembered), REMEMBERED_MAX),
        bool(oracle.issues),
        oracle.closed,
    )


_EVIDENCE_EVENTS: Final = (
    "text",
    "EOF",
    "failed without text",
    "not an envelope: no run",
    "not JSON: half a surrogate pair",
    "the last id, other data",
    "a gap by one",
    "kind 'future.completed'",
    "started c2",
)

LAYERS: Final = (
    Layer(
        "lifecycle",
        "the states of two calls, in any order; waiting, cancel, EOF and any issue as yes or no; "
        "calls and requests no longer told apart once the run or the connection ended, but the "
        "final text",
        _lifecycle_key,
        lambda template: template.group in ("kind", "eof"),
    ),
    Layer(
        "payloads",
        "lifecycle state, EOF and any issue as yes or no; every bad payload, envelope and value",
        _payload_key,
        lambda template: template.group != "",
        hidden=False,
        parsing=True,
        answers=lambda template: (
            template.group in ("payload", "envelope", "json", "foreign")
            or template.name.startswith("kind ")
        ),
    ),
    Layer(
        "evidence",
        "the set of all issues, EOF and terminal, any id on record; one event for each issue",
        _evidence_key,
        lambda template: template.name in _EVIDENCE_EVENTS,
        hidden=False,
    ),
    Layer(
        "numbers",
        f"seq up to {NUMBERS_MAX}, duplicates and foreign up to {COUNTS_MAX}, "
        f"ids on record up to {REMEMBERED_MAX}",
        _numbers_key,
        lambda template: (
            template.group in ("order", "repeat", "foreign", "eof")
            or template.name in ("text", "text under a free id", "text under a later id")
        ),
        parsing=True,
        # Whether an earlier id is free depends on all ids before: it is tried, and nothing claimed.
        answers=lambda template: template.name != "text under an earlier id",
    ),
    Layer(
        "beginnings",
        f"the first {BEGINNING_MAX} events in full, with any issue; what follows is held equal",
        _beginning_key,
        lambda template: (
            template.group in ("order", "repeat", "foreign", "eof")
            or template.name in ("text", "text under a free id", "text under a later id")
            or template.name == "approval wait"
        ),
        parsing=True,
        congruent=False,
    ),
)


def explore(
    subject: Subject | None,
    layer: Layer,
    *,
    templates: Sequence[Template] = TEMPLATES,
    states_max: int = 100_000,
    differences_max: int = 1,
    haste: Haste = PATIENT,
) -> Exploration:
    """Explore one layer, breadth first, until nothing new is found.

    Without a subject the declaration is explored alone. Stops early, and is then not complete,
    at `differences_max` differences or `states_max` states, or when there is no more time.
    """
    found = Exploration(layer.name, states=1, paths=[()])
    alphabet = [template for template in templates if layer.picks(template)]
    seen: set[Hashable] = {(layer.key(Oracle(RUN)), None)}
    frontier: list[tuple[tuple[Template, ...], tuple[Move, ...], Oracle]] = [((), (), Oracle(RUN))]
    while frontier:
        tried = []
        for path, moves, oracle in frontier:
            for template in alphabet:
                move = template.make(oracle)
                if move is None or (subject is not None and not subject.takes(move)):
                    continue
                after = oracle.fork()
                decision = after.take(move)
                if decision.step is not None:
                    found.steps[decision.step.catches] += 1
                else:
                    found.pairs[decision.state, str(decision.trigger)] += 1
                    found.rows[_PLACES[id(decision.row)]] += 1
                tried.append(((*path, template), (*moves, move), after))
        found.edges += len(tried)
        traces = [[move.event for move in moves] for _, moves, _ in tried]
        shown = _shown(subject, traces, haste) if subject else [{}] * len(traces)
        frontier = []
        for (path, moves, oracle), snapshot in zip(tried, shown, strict=not haste.was_cut):
            expected = oracle.observables()
            if not agrees(expected, snapshot):
                found.differences.append(Difference(path, moves, expected, snapshot))
                if len(found.differences) >= differences_max:
                    found.complete = False
                    return found
                continue
            hidden = snapshot.get("hidden") if layer.hidden else None
            key = (layer.key(oracle), hidden)
            if key not in seen:
                seen.add(key)
                found.paths.append(path)
                frontier.append((path, moves, oracle))
        found.states = len(seen)
        found.depth += bool(frontier)
        if found.states > states_max or haste.was_cut:
            found.complete = False
            return found
    return found


def _shown(subject: Subject, traces: list[list[object]], haste: Haste) -> list[Snapshot]:
    """What is shown at the end of each trace, of as many as there is time for."""
    shown: list[Snapshot] = []
    at_once = haste.batches(len(traces), _HASTY_BATCH)
    for start in range(0, len(traces), at_once):
        if haste.is_over():
            break
        shown += subject.last(RUN, traces[start : start + at_once])
    return shown


def agrees(expected: dict[str, object], shown: Snapshot) -> bool:
    """Whether all that a subject shows is what is expected of it."""
    return "failure" not in shown and all(
        shown[name] == value for name, value in expected.items() if name in shown
    )
