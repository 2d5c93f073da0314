"""The families of tests that are data, in a form that thousands of faulty reducers can take.

Tests that begin alike are one tree, run from copies; a test costs little more than its last event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeAlias

from doneness.fixtures.cases import Case
from doneness.fixtures.cases import every as every_case
from doneness.generators.classify import Reader
from doneness.generators.mutants.recording import decisions
from doneness.generators.oracle import END_OF_TRANSPORT, Oracle
from doneness.generators.subject import forked
from doneness.generators.suite.abstraction import RUN
from doneness.generators.suite.hand_written import is_red
from doneness.generators.suite.running import load, transition_cover
from doneness.generators.suite.unfolding import every_test
from doneness.spec.lifecycle import LIFECYCLE

Factory: TypeAlias = Callable[[str], Any]
Feed: TypeAlias = Callable[[Any, object], None]
Decided: TypeAlias = tuple[str, ...]
"""What names a decision of the declared tables; see `generators.mutants.tables`."""


def plain_feed(reducer: Any, event: object) -> None:
    """Feed an event as it is."""
    reducer.feed(event)


class DeclaredReducer:
    """A reducer made of the declared tables, as they are or changed."""

    def __init__(self, run: str) -> None:
        self.reader = Reader(Oracle(run))

    def __copy__(self) -> DeclaredReducer:
        other = object.__new__(DeclaredReducer)
        other.reader = object.__new__(Reader)
        other.reader.oracle = self.reader.oracle.fork()
        other.reader.contents = self.reader.contents.copy()
        return other

    def __getattr__(self, name: str) -> object:
        if name == "reader":
            raise AttributeError(name)
        return getattr(self.reader.oracle, name)

    def feed(self, event: object) -> None:
        """Take an event."""
        self.reader.oracle.take(self.reader.move(event))

    def close_transport(self) -> None:
        """Take the end of the connection."""
        self.feed(END_OF_TRANSPORT)

    def decided_by(self, event: object) -> frozenset[Decided]:
        """Take an event, or the end; what decided it."""
        before = self.reader.oracle
        move = self.reader.move(event)
        after = before.fork()
        decided = frozenset(decisions(before, after, move))
        self.reader.oracle = after
        return decided


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be shown.

    Attributes:
        values: Those of `names`; the one value if there is one name.
    """

    names: tuple[str, ...]
    values: object
    read: Callable[[object], object]


@cache
def _reader(names: tuple[str, ...]) -> Callable[[object], object]:
    return attrgetter(*names)


def _expected(shown: Mapping[str, Any]) -> Expected:
    names = tuple(shown)
    values = tuple(shown.values())
    return Expected(names, values if len(names) > 1 else values[0], _reader(names))


@dataclass(slots=True)
class _Edge:
    """One event of the tree.

    Attributes:
        parent: The edge that it goes on from; -1 is the start.
        expected: What must be shown then, if a test ends here.
        decided: What decides in the declared tables, if that was looked up.
    """

    parent: int
    event: object
    goes_on: bool = False
    expected: Expected | None = None
    decided: frozenset[Decided] = frozenset()


class Tree:
    """The tests of a suite."""

    def __init__(self, tests: Iterable[tuple[Sequence[object], Mapping[str, Any]]]) -> None:
        self._start: Expected | None = None
        self._edges: list[_Edge] = []
        self._declared: dict[int, DeclaredReducer] = {}
        self.tests = 0
        places: dict[tuple[int, int], int] = {}
        for events, shown in tests:
            self.tests += 1
            place = -1
            for event in events:
                if place >= 0:
                    self._edges[place].goes_on = True
                parent = place
                place = places.setdefault((parent, id(event)), len(self._edges))
                if place == len(self._edges):
                    self._edges.append(_Edge(parent, event))
            if place < 0:
                self._start = _expected(shown)
            else:
                self._edges[place].expected = _expected(shown)

    def fails(self, factory: Factory, feed: Feed = plain_feed) -> bool:
        """Whether a reducer fails a test."""
        try:
            reducers = {-1: factory(RUN)}
            if self._is_other(self._start, reducers[-1]):
                return True
            for place, edge in enumerate(self._edges):
                reducer = forked(reducers[edge.parent])
                _take(reducer, edge.event, feed)
                if edge.goes_on:
                    reducers[place] = reducer
                if self._is_other(edge.expected, reducer):
                    return True
        except Exception:  # noqa: BLE001 # a reducer that raises fails, whatever it raises
            return True
        return False

    def fails_behind(self, changed: Decided) -> bool:
        """Whether the declared tables fail, as they are now: a decision changed since `prepare`.

        Where no test before made that decision, nothing can be otherwise.
        """
        reducers: dict[int, DeclaredReducer] = {}
        try:
            if changed == (LIFECYCLE.initial,) and self._is_other(
                self._start, DeclaredReducer(RUN)
            ):
                return True
            for place, edge in enumerate(self._edges):
                before = reducers.get(edge.parent)
                if before is None:
                    if changed not in edge.decided:
                        continue
                    before = self._declared[edge.parent]
                reducer = forked(before)
                _take(reducer, edge.event, plain_feed)
                if edge.goes_on:
                    reducers[place] = reducer
                if self._is_other(edge.expected, reducer):
                    return True
        except Exception:  # noqa: BLE001 # nobody decides: that is seen as well
            return True
        return False

    def prepare(self) -> None:
        """Look up what decides where, in the declared tables as they are."""
        self._declared[-1] = DeclaredReducer(RUN)
        for place, edge in enumerate(self._edges):
            reducer = forked(self._declared[edge.parent])
            edge.decided = _shared(reducer.decided_by(edge.event))
            if edge.goes_on:
                self._declared[place] = reducer

    @staticmethod
    def _is_other(expected: Expected | None, reducer: object) -> bool:
        return expected is not None and expected.read(reducer) != expected.values


@cache
def _shared(decided: frozenset[Decided]) -> frozenset[Decided]:
    return decided


def _take(reducer: Any, event: object, feed: Feed) -> None:
    if event is END_OF_TRANSPORT:
        reducer.close_transport()
    else:
        feed(reducer, event)


@dataclass(frozen=True, slots=True)
class Family:
    """Tests of one origin.

    Attributes:
        calls: How many calls a suite has; 0 for a folder of cases.
        extra: How many states more a complete suite allows; None for a transition cover.
        observed: What is compared; or the folder.
    """

    name: str
    calls: int
    extra: int | None
    observed: str

    @property
    def is_large(self) -> bool:
        """Whether a fault that it does not find takes it seconds, where every test must be run."""
        return bool(self.extra) and (self.calls, self.observed) != (1, "snapshot")

    @property
    def contains(self) -> str | None:
        """The name of the family whose tests are all among these, if there is one."""
        smaller = self.name.replace("m = 1", "m = 0")
        return smaller if smaller != self.name else None


def _families() -> Iterator[Family]:
    words = {1: "one call", 2: "two calls"}
    for calls in words:
        yield Family(f"transition cover, {words[calls]}", calls, None, "snapshot")
    for observed, by in (("snapshot", ""), ("status", ", by status alone")):
        for calls in words:
            for extra in (0, 1):
                if (calls, observed, extra) != (
                    2,
                    "status",
                    1,
                ):  # the longest, and not the sharpest
                    yield Family(f"m = {extra}, {words[calls]}{by}", calls, extra, observed)
    yield Family("hand-written cases", 0, None, "progress")
    yield Family("field cases", 0, None, "field")


FAMILIES: Final = tuple(_families())


@cache
def tree(family: Family) -> Tree:
    """The tests of a suite, and what decides where."""
    found = load(family.calls, family.observed)
    tests = (
        every_test(found, words=transition_cover(found))
        if family.extra is None
        else every_test(found, extra=family.extra)
    )
    made = Tree((events, shown) for _, events, shown in tests)
    made.prepare()
    return made


def prepared(families: Iterable[Family]) -> list[Family]:
    """The families, ready: what decides where is looked up before anything is changed."""
    ready = list(families)
    for family in ready:
        if family.calls:
            tree(family)
    return ready


@cache
def cases(folder: str) -> Sequence[Case]:
    """The cases of a folder."""
    return list(every_case((folder,)))


def finds(family: Family, factory: Factory, feed: Feed = plain_feed) -> bool:
    """Whether a reducer fails a test of a family."""
    if family.calls:
        return tree(family).fails(factory, feed)
    return any(is_red(factory, case, feed) for case in cases(family.observed))


def finds_changed(family: Family, changed: Decided) -> bool:
    """Whether the declared tables fail a test, now that a decision is changed."""
    if family.calls:
        return tree(family).fails_behind(changed)
    return finds(family, DeclaredReducer)
