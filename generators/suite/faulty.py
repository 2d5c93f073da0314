"""The generator on trial: machines that are wrong within the bound, none of which may escape.

A machine is made wrong in the ways that are hardest to see: it is the right one but for few steps,
it has states that look like another until something is done to them, it shows something else in
one place, it cannot tell two states apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from doneness.generators.suite.machines import Moore, Word, equivalent

CHANGES_MAX: Final = 4


def faulty_machines(right: Moore, extra: int, random: Random) -> Iterator[Moore]:
    """Machines with at most `extra` more states, none of them equivalent to the right one."""
    while True:
        made = _changed(right, extra, random)
        if not equivalent(made, right):
            yield made


def _changed(right: Moore, extra: int, random: Random) -> Moore:
    steps = [list(row) for row in right.steps]
    outputs = list(right.outputs)
    for _ in range(random.randint(0, extra)):
        _double(steps, outputs, random)
    is_last_resort = len(steps) == len(right.steps)
    for change in range(random.randint(is_last_resort, CHANGES_MAX)):
        if change == CHANGES_MAX - 1 and random.random() < 0.5:
            outputs[random.randrange(len(steps))] = random.choice(right.outputs)
        elif change == CHANGES_MAX - 2 and random.random() < 0.5:
            _confuse(steps, random)
        else:
            row = random.choice(steps)
            row[random.randrange(right.inputs)] = random.randrange(len(steps))
    return Moore(right.inputs, tuple(map(tuple, steps)), tuple(outputs))


def _double(steps: list[list[int]], outputs: list[Hashable], random: Random) -> None:
    """One of the steps now leads to a copy of its target, which differs in one step."""
    row, letter = random.choice(steps), random.randrange(len(steps[0]))
    target = row[letter]
    steps.append(list(steps[target]))
    outputs.append(outputs[target])
    row[letter] = len(steps) - 1
    steps[-1][random.randrange(len(row))] = random.randrange(len(steps))


def _confuse(steps: list[list[int]], random: Random) -> None:
    """What leads to one state leads to another."""
    one, other = random.randrange(len(steps)), random.randrange(len(steps))
    for row in steps:
        row[:] = [other if target == one else target for target in row]


def first_failed(made: Moore, right: Moore, words: Sequence[Word]) -> int | None:
    """How many tests it takes to see that a machine is wrong; None if they do not show it."""
    for count, word in enumerate(words, 1):
        if made.outputs[made.after(word)] != right.outputs[right.after(word)]:
            return count
    return None


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of some faulty machines.

    Attributes:
        escaped: How many of them passed every test.
        larger: How many states they had more than the declaration, at most.
    """

    tests: int
    machines: int
    larger: int
    escaped: int


def trial(right: Moore, words: Sequence[Word], larger: int, machines: int, seed: int) -> Trial:
    """Put faulty machines through a suite."""
    made = faulty_machines(right, larger, Random(seed))  # noqa: S311 # to be repeatable
    escaped = sum(first_failed(next(made), right, words) is None for _ in range(machines))
    return Trial(len(words), machines, larger, escaped)
