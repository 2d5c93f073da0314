"""Every short stream through the resequencer and its declaration: the same, step by step."""

from __future__ import annotations

from itertools import product

import pytest

from doneness.machine.transport import Resequencer
from doneness.spec.transport import (
    AHEAD,
    ALL_IN_ORDER,
    ENDED,
    EOF,
    FOLLOWERS,
    HAND_ON,
    HOLD,
    HOLDING,
    KNOWN_ID,
    LATE,
    NEXT,
    NO_PLACE,
    RESEQUENCER,
)

STEPS = 4
MALFORMED = "malformed"
NUMBERED = [(id_, seq) for id_ in "abc" for seq in (1, 2, 3)]

Step = tuple[str, int] | str


class Declared:
    """The declaration, with what its facts and effects are about."""

    def __init__(self, held_max: int) -> None:
        self.state = RESEQUENCER.initial
        self.held_max = held_max
        self.out: list[Step] = []
        self.waiting: list[tuple[str, int]] = []
        self.taken_rows: set[int] = set()

    @property
    def numbers(self) -> dict[str, int]:
        """The number that each id handed on moved to."""
        first: dict[str, int] = {}
        for one in self.out:
            if isinstance(one, tuple):
                first.setdefault(*one)
        return first

    def trigger(self, step: Step) -> str:
        if not isinstance(step, tuple):
            return EOF if step == EOF else NO_PLACE
        distance = step[1] - max(self.numbers.values(), default=0)
        if distance != 1:
            return LATE if distance < 1 else AHEAD
        return KNOWN_ID if step[0] in self.numbers else NEXT

    def holds(self, fact: str, step: Step) -> bool:
        match fact:
            case "full":
                return len(self.waiting) + 1 > self.held_max
            case _:
                trial = Declared(self.held_max)
                trial.out, trial.waiting = [*self.out, step], list(self.waiting)
                trial.apply(FOLLOWERS, step)
                return bool(trial.waiting)

    def apply(self, effect: str, step: Step) -> None:
        match effect:
            case _ if effect == HAND_ON:
                self.out.append(step)
            case _ if effect == HOLD:
                assert isinstance(step, tuple)
                self.waiting.append(step)
            case _ if effect == ALL_IN_ORDER:
                self.out += sorted(self.waiting, key=lambda one: one[1])
                self.waiting = []
            case _:
                while follow := self.followers():
                    self.out += follow
                    self.waiting = [one for one in self.waiting if one not in follow]

    def followers(self) -> list[tuple[str, int]]:
        """What has the next number; nothing has it that the last one did not move to."""
        following = max(self.numbers.values(), default=0) + 1
        return [one for one in self.waiting if one[1] == following]

    def take(self, step: Step) -> list[Step]:
        before = len(self.out)
        row = RESEQUENCER.decide(self.state, self.trigger(step), lambda f: self.holds(f, step))
        self.taken_rows.add(id(row))
        for effect in row.effects:
            self.apply(effect, step)
        self.state = row.target or self.state
        return self.out[before:]


def event_of(step: Step) -> object:
    if not isinstance(step, tuple):
        return step
    return {"run": "run", "id": step[0], "seq": step[1], "kind": "text.delta", "data": {"text": ""}}


def step_of(event: object) -> Step:
    if isinstance(event, dict):
        return event["id"], event["seq"]
    assert isinstance(event, str)
    return event


@pytest.mark.slow
def test_every_short_stream() -> None:
    """Three ids, three numbers, malformed events and EOF, and bounds of none, one and two."""
    rows: set[int] = set()
    for held_max, *stream in product(range(3), *[[*NUMBERED, MALFORMED, EOF]] * STEPS):
        machine, declared = Resequencer("run", held_max=held_max), Declared(held_max)
        for step in stream:
            taken = machine.end() if step == EOF else machine.take(event_of(step))
            assert list(map(step_of, taken)) == declared.take(step), (held_max, stream)
            assert machine.held == len(declared.waiting)
            assert (machine.held > 0) == (declared.state == HOLDING)
            assert machine.last_seq == max(declared.numbers.values(), default=0)
        assert (EOF in stream) == (declared.state == ENDED)
        rows |= declared.taken_rows
    assert rows == set(map(id, RESEQUENCER.rows))
