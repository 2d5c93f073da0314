"""The suite unfolded: its words become events, and a test becomes a line that says everything.

The documents hold the tests as a product; who would rather read them one by one has a file made.
The largest has a quarter of a million lines, so nothing is kept but what neighbouring tests share,
and of the files themselves only what they must add up to is part of the project.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypedDict

from doneness.generators.oracle import END_OF_TRANSPORT
from doneness.generators.suite.documents import GAP, ID, NEXT, OBSERVATIONS, document, machine_of
from doneness.generators.suite.machines import Word, suite_words

KEPT_MAX: Final = 2_000
"""How many words' events are kept for those that begin alike."""

EXTRA_MAX: Final = 1

_written: Final = json.JSONEncoder(separators=(",", ":")).encode


class Unfolding:
    """Makes events of words; words with the same beginning share its events."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self._known: dict[Word, tuple[list[object], _After]] = {}
        self._made: dict[tuple[int, _After], tuple[object, _After]] = {}

    def events(self, word: Word) -> list[object]:
        """The events of a word; `END_OF_TRANSPORT` where the connection ends."""
        return self._upto(word)[0]

    def _upto(self, word: Word) -> tuple[list[object], _After]:
        if not word:
            return [], _START
        if word not in self._known:
            if len(self._known) > KEPT_MAX:
                self._known.clear()
            events, after = self._upto(word[:-1])
            one, after = self._one(word[-1], after)
            self._known[word] = events if one is _NO_EVENT else [*events, one], after
        return self._known[word]

    def _one(self, place: int, before: _After) -> tuple[object, _After]:
        """The event that a letter makes, each made once; and what decides the next ones."""
        if (place, before) not in self._made:
            self._made[place, before] = self._new(place, before)
        return self._made[place, before]

    def _new(self, place: int, before: _After) -> tuple[object, _After]:
        letter = self._found["alphabet"][place]
        if letter["do"] == "close":
            return END_OF_TRANSPORT, before
        if letter["do"] == "repeat":
            if before == _START:
                return _NO_EVENT, before
            last = self._numbered(before)
            return {**last, "data": {**last["data"], **letter.get("data", {})}}, before
        seq = before.last_seq + {NEXT: 1, GAP: 2}[letter["event"]["seq"]]
        after = _After(seq, place)
        return self._numbered(after), after if letter.get("numbered") else before

    def _numbered(self, made: _After) -> dict[str, Any]:
        event = dict(self._found["alphabet"][made.last_letter]["event"])
        id_ = event["id"].replace(ID, f"{self._found['run']}:{made.last_seq}")
        return event | {"seq": made.last_seq, "id": id_}


class _After(NamedTuple):
    """The last number, and the letter that it was given to."""

    last_seq: int
    last_letter: int


_START: Final = _After(0, -1)
_NO_EVENT: Final = object()


def every_test(
    found: Mapping[str, Any], *, extra: int = 0, words: Iterable[Word] | None = None
) -> Iterator[tuple[Word, list[object], Mapping[str, Any]]]:
    """Each test: its word, its events, what must be shown at their end.

    Args:
        found: The suite, as in its file.
        extra: How many more states than the declaration's are allowed.
        words: Other tests than the complete ones.
    """
    machine, cover, identifiers = machine_of(found)
    unfolding = Unfolding(found)
    for word in suite_words(machine, cover, identifiers, extra) if words is None else words:
        yield word, unfolding.events(word), found["states"][machine.after(word)]


class Sum(TypedDict):
    """What an unfolded suite adds up to; `calls`, `observed` and `extra` name it."""

    calls: int
    observed: str
    extra: int
    tests: int
    events: int
    bytes: int
    sha256: str


def unfold(
    found: Mapping[str, Any], extra: int, write: Callable[[bytes], object] = lambda _line: None
) -> Sum:
    """Write the complete suite as JSON Lines, one test a line: `run`, `events`, `shown`."""
    count = events = size = 0
    digest = sha256()
    for _, given, shown in every_test(found, extra=extra):
        line = _written({"run": found["run"], "events": given, "shown": shown}).encode() + b"\n"
        write(line)
        digest.update(line)
        count += 1
        events += len(given)
        size += len(line)
    return Sum(
        calls=found["calls"],
        observed=found["observed"],
        extra=extra,
        tests=count,
        events=events,
        bytes=size,
        sha256=digest.hexdigest(),
    )


SUMS: Final = "sums.json"
"""The file beside the suite's that holds what each unfolded one adds up to."""


def recorded() -> list[Sum]:
    """What is on record."""
    text = (files("doneness.fixtures") / "suite" / SUMS).read_text("utf-8")
    found: list[Sum] = json.loads(text)
    return found


def sums_text() -> str:
    """The record, made anew; this unfolds everything."""
    every = (
        unfold(document(calls, observed), extra)
        for calls in (1, 2)
        for observed in OBSERVATIONS
        for extra in range(EXTRA_MAX + 1)
    )
    return "[\n" + ",\n".join(json.dumps(one) for one in every) + "\n]\n"
