"""Running a suite: a subject takes its tests, many at a time, and the first failure is told.

What is expected comes from the document alone, as for a runner in another language.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from typing import Any, Final

from doneness.generators.moves import BY_NAME
from doneness.generators.oracle import Oracle
from doneness.generators.subject import Snapshot, Subject
from doneness.generators.suite.documents import file_name
from doneness.generators.suite.machines import Word
from doneness.generators.suite.unfolding import every_test

BATCH: Final = 2_000


@dataclass(frozen=True)
class Failure:
    """A test that a subject fails.

    Attributes:
        letters: The names of the letters of the test, in order.
        expected: What the state that the test ends in shows.
    """

    letters: tuple[str, ...]
    events: tuple[object, ...]
    expected: Mapping[str, Any]
    shown: Snapshot


@dataclass(frozen=True)
class Result:
    """What came of a suite.

    Attributes:
        events: How many the tests hold together, ends of connections among them.
        left_out: How many tests hold a letter that the subject does not take.
    """

    tests: int
    events: int
    left_out: int
    failure: Failure | None = None


def load(calls: int, observed: str) -> dict[str, Any]:
    """A suite as it was written down."""
    path = files("doneness.fixtures") / "suite" / file_name(calls, observed)
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def run(
    found: Mapping[str, Any],
    subject: Subject,
    *,
    extra: int = 0,
    words: Iterable[Word] | None = None,
) -> Result:
    """Put a subject through a suite, up to the first failure.

    Args:
        found: The suite.
        subject: The reducer.
        extra: How many more states the subject may have than the declaration.
        words: Other tests than the complete ones: the transition cover, say.
    """
    taken = [_takes(subject, letter["name"]) for letter in found["alphabet"]]
    count = left_out = events = 0
    every = every_test(found, extra=extra, words=words)
    for batch in iter(lambda: list(islice(every, BATCH)), []):
        kept = [test for test in batch if all(taken[one] for one in test[0])]
        left_out += len(batch) - len(kept)
        snapshots = subject.last(found["run"], [trace for _, trace, _ in kept])
        for (word, trace, expected), shown in zip(kept, snapshots, strict=True):
            count += 1
            events += len(trace)
            if not agrees(expected, shown):
                names = tuple(found["alphabet"][one]["name"] for one in word)
                failure = Failure(names, tuple(trace), expected, shown)
                return Result(count, events, left_out, failure)
    return Result(count, events, left_out)


def transition_cover(found: Mapping[str, Any]) -> Iterator[Word]:
    """The tests that take each transition once."""
    return (tuple(word) for word in found["transition_cover"])


def _takes(subject: Subject, name: str) -> bool:
    oracle = Oracle("run-A")
    oracle.take(BY_NAME["text"].make(oracle))  # type: ignore[arg-type] # a letter that always is
    move = BY_NAME[name].make(oracle)
    return move is None or subject.takes(move)


def agrees(expected: Mapping[str, Any], shown: Snapshot) -> bool:
    """Whether a subject shows what it must, of what it shows at all."""
    return "failure" not in shown and all(
        shown[name] == value for name, value in expected.items() if name in shown
    )
