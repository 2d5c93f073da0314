"""Running a suite: its words become events, a subject takes them, and the first failure is told.

Only the document is read here, as a runner in another language would; no table, no oracle.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from typing import Any, Final

from doneness.generators.moves import BY_NAME
from doneness.generators.oracle import END_OF_TRANSPORT, Oracle
from doneness.generators.subject import Snapshot, Subject
from doneness.generators.suite.documents import GAP, ID, NEXT, file_name, machine_of
from doneness.generators.suite.machines import Word, suite_words

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
        left_out: How many tests hold a letter that the subject does not take.
    """

    tests: int
    left_out: int
    failure: Failure | None = None


def load(calls: int, observed: str) -> dict[str, Any]:
    """A suite as it was written down."""
    path = files("doneness.fixtures") / "suite" / file_name(calls, observed)
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


class Unfolding:
    """Makes events of words; words with the same beginning share its events."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self._known: dict[Word, tuple[list[object], int, dict[str, Any] | None]] = {}

    def events(self, word: Word) -> list[object]:
        """The events of a word; `END_OF_TRANSPORT` where the connection ends."""
        return self._upto(word)[0]

    def _upto(self, word: Word) -> tuple[list[object], int, dict[str, Any] | None]:
        if not word:
            return [], 0, None
        if word not in self._known:
            if len(self._known) > BATCH:
                self._known.clear()
            self._known[word] = self._one_more(*self._upto(word[:-1]), word[-1])
        return self._known[word]

    def _one_more(
        self, events: list[object], last_seq: int, last_event: dict[str, Any] | None, place: int
    ) -> tuple[list[object], int, dict[str, Any] | None]:
        letter = self._found["alphabet"][place]
        if letter["do"] == "close":
            return [*events, END_OF_TRANSPORT], last_seq, last_event
        if letter["do"] == "repeat":
            if last_event is None:
                return events, last_seq, last_event
            again = {**last_event, "data": {**last_event["data"], **letter.get("data", {})}}
            return [*events, again], last_seq, last_event
        event = dict(letter["event"])
        seq = last_seq + {NEXT: 1, GAP: 2}[event["seq"]]
        event |= {"seq": seq, "id": event["id"].replace(ID, f"{self._found['run']}:{seq}")}
        if letter.get("numbered"):
            last_seq, last_event = seq, event
        return [*events, event], last_seq, last_event


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
    machine, cover, identifiers = machine_of(found)
    taken = [_takes(subject, letter["name"]) for letter in found["alphabet"]]
    unfolding = Unfolding(found)
    count = left_out = 0
    every = iter(suite_words(machine, cover, identifiers, extra) if words is None else words)
    for batch in iter(lambda: list(islice(every, BATCH)), []):
        possible = [word for word in batch if all(taken[one] for one in word)]
        left_out += len(batch) - len(possible)
        kept = [(word, trace) for word in possible if (trace := unfolding.events(word))]
        snapshots = subject.last(found["run"], [trace for _, trace in kept])
        for (word, trace), shown in zip(kept, snapshots, strict=True):
            count += 1
            expected = found["states"][machine.after(word)]
            if not _agrees(expected, shown):
                names = tuple(found["alphabet"][one]["name"] for one in word)
                failure = Failure(names, tuple(trace), expected, shown)
                return Result(count, left_out, failure)
    return Result(count, left_out)


def transition_cover(found: Mapping[str, Any]) -> Iterator[Word]:
    """The tests that take each transition once."""
    return (tuple(word) for word in found["transition_cover"])


def _takes(subject: Subject, name: str) -> bool:
    oracle = Oracle("run-A")
    oracle.take(BY_NAME["text"].make(oracle))  # type: ignore[arg-type] # a letter that always is
    move = BY_NAME[name].make(oracle)
    return move is None or subject.takes(move)


def _agrees(expected: Mapping[str, Any], shown: Snapshot) -> bool:
    return "failure" not in shown and all(
        shown[name] == value for name, value in expected.items() if name in shown
    )
