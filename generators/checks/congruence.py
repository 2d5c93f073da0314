"""Whether what an exploration holds equal is equal: its abstraction, tested as a congruence.

An exploration follows only the first trace to each abstract state; that is sound if any other
trace that leads there goes on alike. So other traces are drawn at random, up to the same abstract
state, and every event that the layer answers for is tried behind both: the same rule must decide,
and the abstract states after it must be the same again. Where a subject is given, it must also
show behind the other trace what the declaration says there.

Two calls that swap their places are the same up to their names, so the outcomes of an event for
one call and for the other are compared as a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from doneness.generators.exploration import RUN, Layer, agrees, explore
from doneness.generators.moves import CALLS, TEMPLATES, Template, play
from doneness.generators.oracle import Decision, Oracle
from doneness.generators.subject import Subject
from doneness.spec.lifecycle import LIFECYCLE

WALK_EVENTS_MAX: Final = 12


@dataclass(frozen=True, slots=True)
class Incongruence:
    """Two traces that a layer holds equal, and an event after which they are not.

    Attributes:
        explored: The trace that the exploration followed.
        other: Another one to the same abstract state.
        event: The template that tells them apart, call names aside.
        outcomes: What each of them leads to.
    """

    layer: str
    explored: tuple[str, ...]
    other: tuple[str, ...]
    event: str
    outcomes: tuple[str, str]

    def __str__(self) -> str:
        return (
            f"layer {self.layer}: held equal, but {self.event!r} tells them apart\n"
            f"  {' / '.join(self.explored) or '(nothing)'}: {self.outcomes[0]}\n"
            f"  {' / '.join(self.other) or '(nothing)'}: {self.outcomes[1]}"
        )


def incongruences(
    layer: Layer, seed: int, samples: int, subject: Subject | None = None
) -> Iterator[Incongruence]:
    """Where the layer's abstraction is no congruence, on some random samples.

    Args:
        layer: The abstraction.
        seed: Of the random walks; the same seed draws the same ones.
        samples: How many walks are compared with what was explored.
        subject: A reducer that must not tell apart either what the layer holds equal.
    """
    random = Random(seed)  # noqa: S311 # reproducible, not secret
    alphabet = [template for template in TEMPLATES if layer.picks(template)]
    asked = [template for template in alphabet if layer.answers(template)]
    explored = _explored(layer)
    for _ in range(samples):
        walk = random.choices(alphabet, k=random.randint(1, WALK_EVENTS_MAX))
        other, one = played(walk), explored.get(layer.key(played(walk)))
        if one is None:
            yield _unexplored(layer, walk)
            continue
        outcomes = _outcomes(layer, played(one), asked), _outcomes(layer, other, asked)
        for event in asked:
            name = _without_call(event)
            if outcomes[0][name] != outcomes[1][name]:
                yield Incongruence(
                    layer.name,
                    _names(one),
                    _names(walk),
                    name,
                    (_written(outcomes[0][name]), _written(outcomes[1][name])),
                )
        if subject is not None:
            yield from _told_apart(layer, subject, one, walk, asked)


@cache
def _explored(layer: Layer) -> Mapping[Hashable, tuple[Template, ...]]:
    """The trace that the exploration follows, for each abstract state."""
    return {layer.key(played(path)): path for path in explore(None, layer).paths}


def played(path: Sequence[Template]) -> Oracle:
    """The oracle at the end of a trace."""
    oracle = Oracle(RUN)
    play(oracle, path)
    return oracle


def _outcomes(
    layer: Layer, oracle: Oracle, asked: Iterable[Template]
) -> dict[str, Counter[Hashable]]:
    """What each event leads to: the rule that decides, the status, and the next abstract state."""
    found: dict[str, Counter[Hashable]] = {}
    for template in asked:
        after = oracle.fork()
        move = template.make(after)
        outcome: Hashable = "cannot come"
        if move is not None:
            decision = after.take(move)
            outcome = (_rule(decision), str(after.status), layer.key(after))
        found.setdefault(_without_call(template), Counter())[outcome] += 1
    return found


_ROWS: Final = {id(row): place for place, row in enumerate(LIFECYCLE.rows)}


def _rule(decision: Decision) -> str:
    if decision.step is not None:
        return decision.step.catches
    return f"row {_ROWS[id(decision.row)]}"


def _without_call(template: Template) -> str:
    """The name of a template, the same for both calls."""
    words = template.name.split(" ")
    return " ".join("a call" if word in CALLS else word for word in words)


def _names(path: Iterable[Template]) -> tuple[str, ...]:
    return tuple(template.name for template in path)


def _written(outcomes: Counter[Hashable]) -> str:
    return "; ".join(f"{count} x {outcome}" for outcome, count in outcomes.items())


def _unexplored(layer: Layer, walk: Sequence[Template]) -> Incongruence:
    outcomes = ("never reached", str(layer.key(played(walk))))
    return Incongruence(layer.name, (), _names(walk), "(the trace itself)", outcomes)


def _told_apart(
    layer: Layer,
    subject: Subject,
    one: Sequence[Template],
    other: Sequence[Template],
    asked: Sequence[Template],
) -> Iterator[Incongruence]:
    """Where a subject leaves the declaration behind the other trace."""
    traces, expected, names = [], [], []
    for template in asked:
        oracle = Oracle(RUN)
        before = play(oracle, other)
        moves = [*before, *play(oracle, [template])]
        if len(moves) == len(before) or (
            subject.json_only and not all(move.json for move in moves)
        ):
            continue
        traces.append([move.event for move in moves])
        expected.append(oracle.observables())
        names.append(template.name)
    for name, declared, shown in zip(names, expected, subject.last(RUN, traces), strict=True):
        if not agrees(declared, shown):
            outcomes = (f"declared {declared}", f"shown {dict(shown)}")
            yield Incongruence(layer.name, _names(one), _names(other), name, outcomes)
