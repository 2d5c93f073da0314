"""Complete test suites for finite machines: the W method, and HSI for weaker observations.

A *Moore machine* here is deterministic and complete: in each state every input leads to one state,
and each state shows one output. Two states are equivalent if no word tells them apart.

Let a specification have n states, all reachable and pairwise distinguishable, and let an
implementation have at most n + m states (and a reset). With

- `P`, a state cover: a shortest word to each state,
- `Σ^i`, all words of length i,
- `H(s)`, words that tell s apart from every other state, harmonised: any two states have a common
  word (a prefix of one in each of their sets) that tells them apart,

the implementation is equivalent to the specification if it passes `p·w·h` for every p in P, w in
Σ^0 … Σ^(m+1), and h in H(s), where s is the state that p·w reaches in the specification
(Chow 1978; Petrenko, Yevtushenko 1993). If every state shows another output, H(s) is the empty
word alone.

A test is looked at once, at its end: that makes it short to say and cheap to run. So a word of H(s)
that is the beginning of another one cannot be left out, the empty word least of all, which is what
looks at s itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Final, TypeAlias

Word: TypeAlias = tuple[int, ...]
"""Inputs, as indices of the alphabet."""

START: Final = 0


@dataclass(frozen=True)
class Moore:
    """A complete deterministic machine; it starts in state 0.

    Attributes:
        inputs: How many inputs there are.
        steps: For each state, the next state under each input.
        outputs: What each state shows.
    """

    inputs: int
    steps: tuple[tuple[int, ...], ...]
    outputs: tuple[Hashable, ...]

    def after(self, word: Sequence[int], state: int = START) -> int:
        """The state that a word leads to."""
        for one in word:
            state = self.steps[state][one]
        return state


def discovered(
    start: Hashable, inputs: int, step: Callable[[Any, int], Hashable]
) -> tuple[list[Hashable], list[list[int]], list[Word]]:
    """All that can be reached: the states, their steps, and a shortest word to each."""
    states: list[Hashable] = [start]
    index = {start: 0}
    steps: list[list[int]] = []
    words: list[Word] = [()]
    for place, state in enumerate(states):  # it grows while it is read
        row = []
        for one in range(inputs):
            target = step(state, one)
            if target not in index:
                index[target] = len(states)
                states.append(target)
                words.append((*words[place], one))
            row.append(index[target])
        steps.append(row)
    return states, steps, words


def state_cover(machine: Moore) -> list[Word]:
    """A shortest word to each state.

    Raises:
        ValueError: a state cannot be reached.
    """
    states, _, words = discovered(
        START, machine.inputs, lambda state, one: machine.steps[state][one]
    )
    found = dict(zip(states, words, strict=True))
    if len(found) != len(machine.steps):
        raise ValueError(f"{len(machine.steps) - len(found)} states cannot be reached")
    return [found[state] for state in range(len(machine.steps))]


def minimal(machine: Moore) -> tuple[Moore, list[int]]:
    """The smallest equivalent machine, and the state of it that each state becomes."""
    blocks = _numbered(machine.outputs)
    while True:
        finer = _numbered(
            [
                (block, *(blocks[target] for target in row))
                for block, row in zip(blocks, machine.steps, strict=True)
            ]
        )
        if max(finer) == max(blocks):
            break
        blocks = finer
    first = {block: state for state, block in reversed(list(enumerate(blocks)))}
    order = sorted(first, key=first.__getitem__)  # so that the start stays state 0
    place = {block: number for number, block in enumerate(order)}
    steps = tuple(
        tuple(place[blocks[target]] for target in machine.steps[first[block]]) for block in order
    )
    outputs = tuple(machine.outputs[first[block]] for block in order)
    return Moore(machine.inputs, steps, outputs), [place[block] for block in blocks]


def _numbered(values: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def separating_words(machine: Moore) -> dict[tuple[int, int], Word]:
    """A shortest word that tells each two states apart, the smaller state first.

    Raises:
        ValueError: two states are equivalent.
    """
    found: dict[tuple[int, int], Word] = {}
    into: dict[tuple[int, int], list[tuple[tuple[int, int], int]]] = {}
    queue: deque[tuple[int, int]] = deque()
    for pair in combinations(range(len(machine.steps)), 2):
        one, other = pair
        if machine.outputs[one] != machine.outputs[other]:
            found[pair] = ()
            queue.append(pair)
        for letter in range(machine.inputs):
            targets = _pair(machine.steps[one][letter], machine.steps[other][letter])
            if targets[0] != targets[1]:
                into.setdefault(targets, []).append((pair, letter))
    while queue:
        targets = queue.popleft()
        for pair, letter in into.get(targets, ()):
            if pair not in found:
                found[pair] = (letter, *found[targets])
                queue.append(pair)
    missing = len(machine.steps) * (len(machine.steps) - 1) // 2 - len(found)
    if missing:
        raise ValueError(f"{missing} pairs of states are equivalent: minimise the machine first")
    return found


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def harmonised_identifiers(machine: Moore) -> list[tuple[Word, ...]]:
    """For each state, words at whose end it shows something else than every other, harmonised."""
    words: list[set[Word]] = [{()} for _ in machine.steps]
    for (one, other), word in separating_words(machine).items():
        words[one].add(word)
        words[other].add(word)
    return [tuple(sorted(several)) for several in words]


def suite_words(
    machine: Moore, cover: Sequence[Word], identifiers: Sequence[Sequence[Word]], extra: int
) -> Iterator[Word]:
    """The complete suite for up to `extra` more states, word by word, each once.

    Nothing is kept of the words that were said: a word that can be read in several ways is said
    where its identifier is shortest, and its middle too. So `cover` must hold, with each word, all
    its beginnings; `state_cover` does.
    """
    covered = frozenset(cover)
    for length in range(extra + 2):
        for access in cover:
            start = machine.after(access)
            for middle in product(range(machine.inputs), repeat=length):
                if middle and (*access, middle[0]) in covered:
                    continue  # a longer access and a shorter middle
                state = machine.after(middle, start)
                for identifier in identifiers[state]:
                    word = access + middle + identifier
                    ends = _covered_letters(word, covered) + extra + 1 - len(access + middle)
                    if not any(
                        identifier[more:] in identifiers[machine.after(identifier[:more], state)]
                        for more in range(1, min(len(identifier), ends) + 1)
                    ):
                        yield word


def _covered_letters(word: Word, covered: Container[Word]) -> int:
    """How many letters of a word are an access, at most."""
    return next((end for end in range(len(word)) if word[: end + 1] not in covered), len(word))


def fails(implementation: Moore, specification: Moore, word: Word) -> bool:
    """Whether an implementation shows something else at the end of a test word."""
    return (
        implementation.outputs[implementation.after(word)]
        != specification.outputs[specification.after(word)]
    )


def equivalent(one: Moore, other: Moore) -> bool:
    """Whether no word at all tells two machines apart."""
    states, _, _ = discovered(
        (START, START),
        one.inputs,
        lambda pair, letter: (one.steps[pair[0]][letter], other.steps[pair[1]][letter]),
    )
    pairs: Any = states
    return all(one.outputs[first] == other.outputs[second] for first, second in pairs)
