"""The generator of complete suites, proven by brute force where that is possible."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from doneness.generators.suite.machines import (
    Moore,
    equivalent,
    fails,
    harmonised_identifiers,
    minimal,
    separating_words,
    state_cover,
    suite_words,
)

INPUTS = 2


def every_machine(states, outputs=2):
    """All machines with so many states, two inputs and two outputs."""
    for targets in product(range(states), repeat=states * INPUTS):
        steps = tuple(targets[place * INPUTS : (place + 1) * INPUTS] for place in range(states))
        for shown in product(range(outputs), repeat=states):
            yield Moore(INPUTS, steps, shown)


def specifications(states, count, outputs=2):
    """Some minimal machines of a size, all of whose states can be reached."""
    random = Random(7)
    found = []
    while len(found) < count:
        steps = tuple(tuple(random.randrange(states) for _ in range(INPUTS)) for _ in range(states))
        machine = Moore(INPUTS, steps, tuple(random.randrange(outputs) for _ in range(states)))
        try:
            state_cover(machine)
            separating_words(machine)
        except ValueError:
            continue
        found.append(machine)
    return found


def products(machine, extra):
    """The words of the suite, as the theorem has them."""
    identifiers = harmonised_identifiers(machine)
    return {
        (*access, *middle, *identifier)
        for access in state_cover(machine)
        for length in range(extra + 2)
        for middle in product(range(machine.inputs), repeat=length)
        for identifier in identifiers[machine.after((*access, *middle))]
    }


@pytest.mark.parametrize(
    ("states", "extra", "count"),
    [(1, 0, 2), (1, 1, 2), (1, 2, 2), (2, 0, 12), (2, 1, 8), (3, 0, 8)],
)
def test_the_suite_finds_every_fault_within_the_bound(states, extra, count):
    """Each machine with at most n + m states passes exactly if it is equivalent."""
    implementations = [
        machine for size in range(1, states + extra + 1) for machine in every_machine(size)
    ]
    for specification in specifications(states, count):
        words = list(
            suite_words(
                specification,
                state_cover(specification),
                harmonised_identifiers(specification),
                extra,
            )
        )
        assert len(words) == len(set(words))
        assert set(words) == products(specification, extra)
        for implementation in implementations:
            passes = not any(fails(implementation, specification, word) for word in words)
            assert passes == equivalent(implementation, specification), implementation


def test_the_bound_is_needed():
    """With one state more than the suite is for, some fault escapes."""
    [specification] = specifications(2, 1)
    words = list(
        suite_words(
            specification, state_cover(specification), harmonised_identifiers(specification), 0
        )
    )
    escaped = [
        implementation
        for implementation in every_machine(3)
        if not equivalent(implementation, specification)
        and not any(fails(implementation, specification, word) for word in words)
    ]
    assert escaped


def test_beginnings_of_identifiers_are_needed():
    """A test is looked at at its end alone: leave the shorter words out, and some fault escapes."""
    escaped = 0
    for specification in specifications(2, 12):
        identifiers = [
            [word for word in words if not any(other[:-1] == word for other in words)]
            for words in harmonised_identifiers(specification)
        ]
        words = list(suite_words(specification, state_cover(specification), identifiers, 0))
        escaped += sum(
            not equivalent(implementation, specification)
            and not any(fails(implementation, specification, word) for word in words)
            for implementation in every_machine(2)
        )
    assert escaped


def test_minimal_machines_are_equivalent_and_have_no_equivalent_states():
    """Whatever machine is minimised."""
    for number, machine in enumerate(every_machine(3)):
        if number % 7 == 0:
            smaller, becomes = minimal(machine)
            assert equivalent(smaller, machine)
            separating_words(smaller)
            assert [smaller.outputs[state] for state in becomes] == list(machine.outputs)


def test_what_cannot_be_tested_is_refused():
    """Equivalent states and states that nothing reaches."""
    with pytest.raises(ValueError, match="1 pairs of states are equivalent"):
        separating_words(Moore(1, ((1,), (1,)), ("x", "x")))
    with pytest.raises(ValueError, match="1 states cannot be reached"):
        state_cover(Moore(1, ((0,), (0,)), ("x", "y")))
