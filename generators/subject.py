"""What a check needs of a reducer under test: traces in, what it shows out.

A trace is the whole life of one reducer: its events in order, `END_OF_TRANSPORT` where the
connection ends. Whole traces and many at a time, because that is what makes a subject in another
process fast.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any, Final, Protocol, TypeAlias

from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES, Move
from doneness.machine import Progress

Trace: TypeAlias = Sequence[object]
Snapshot: TypeAlias = Mapping[str, object]
"""The observables that a subject offers; `status` at least.

`hidden` may hold more, abstracted. `failure` says that and how the subject failed to answer.
"""


class Subject(Protocol):
    """A reducer under test."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def json_only(self) -> bool:
        """Whether events reach it as JSON, so that other objects cannot be tried on it."""

    def close(self) -> None:
        """Let go of what it holds; it may be used again."""

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew; that of none, at the start."""

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""

    def takes(self, move: Move) -> bool:
        """Whether a move can be put to it at all; whoever makes a trace asks first."""


def hidden_state(reducer: object) -> tuple[object, ...]:
    """The private flags of a Python object: what of it is true, false or anything else.

    It makes the explored product one with the reducer's own states, not only with what it shows.
    """
    values = [getattr(reducer, name, ...) for name in _names(reducer)]
    return tuple(value if value is None or isinstance(value, bool) else ... for value in values)


def _names(reducer: object) -> tuple[str, ...]:
    """What its attributes are called."""
    return (*_slots(type(reducer).__mro__), *getattr(reducer, "__dict__", ()))


@cache
def _slots(bases: tuple[type, ...]) -> tuple[str, ...]:
    return tuple(name for base in bases for name in getattr(base, "__slots__", ()))


class PythonSubject:
    """A reducer in this process.

    Args:
        factory: Takes a run, returns an object with `feed`, `close_transport` or `close`, and
            at least `status` to read.
        feed: How an event goes in, where not by `feed`.
        flat: Whether its containers hold nothing that changes, so that a copy of them and of its
            parts is independent. Exploration is faster then: what traces share is run once.
    """

    exact_numbers = True

    def __init__(
        self,
        name: str,
        factory: Callable[[str], Any],
        feed: Callable[[Any, object], None] | None = None,
        *,
        json_only: bool = False,
        flat: bool = False,
    ) -> None:
        self.name = name
        self._flat = flat
        self.json_only = json_only
        self._factory = factory
        self._feed = feed or (lambda reducer, event: reducer.feed(event))

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""
        if not self._flat:
            return [self._run(run, trace) for trace in traces]
        shown: list[Snapshot] = []
        shared: list[object] = []
        reducer, failure = self._factory(run), None
        for trace in traces:
            if not trace:
                shown.append(self._run(run, trace))
                continue
            *before, event = trace
            if list(map(id, before)) != list(map(id, shared)):
                shared, reducer, failure = before, self._factory(run), None
                for earlier in before:
                    failure = failure or self._step(reducer, earlier)
            fork = forked(reducer)
            shown.append(failure or self._step(fork, event) or _all_of(fork))
        return shown

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""
        return [list(self._all(run, trace)) for trace in traces]

    def after(self, run: str, event: object) -> Snapshot:
        """What is shown after one object, whatever it is, was fed to a new reducer."""
        reducer = self._factory(run)
        try:
            self._feed(reducer, event)
        except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
            return {"failure": f"raised {type(error).__name__}: {error}"}
        return _shown(reducer)

    def wrapped(self, wrap: Callable[[Callable[[str], Any]], Callable[[str], Any]]) -> Subject:
        """The same subject with something between it and what it is fed."""
        return PythonSubject(self.name, wrap(self._factory), self._feed, json_only=self.json_only)

    def takes(self, move: Move) -> bool:
        """Whether a move can be put to it: anything, or what JSON can say."""
        return move.json or not self.json_only

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _all(self, run: str, trace: Trace) -> Iterator[Snapshot]:
        reducer = self._factory(run)
        failure: Snapshot | None = None
        for event in trace:
            failure = failure or self._step(reducer, event)
            yield failure or _shown(reducer)

    def _run(self, run: str, trace: Trace) -> Snapshot:
        reducer = self._factory(run)
        for event in trace:
            failure = self._step(reducer, event)
            if failure is not None:
                return failure
        return _all_of(reducer)

    def _step(self, reducer: Any, event: object) -> Snapshot | None:
        try:
            if event is END_OF_TRANSPORT:
                end_transport(reducer)
            else:
                self._feed(reducer, event)
        except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
            return {"failure": f"raised {type(error).__name__}: {error}"}
        return None


def end_transport(reducer: Any) -> None:
    """Tell a reducer that its connection ended, by whichever name it has for that."""
    if hasattr(reducer, "close_transport"):
        reducer.close_transport()
    else:
        reducer.close()


@cache
def own_subjects() -> tuple[PythonSubject, PythonSubject]:
    """The project's own reducer, fed with objects and fed with bytes."""
    return (
        PythonSubject("doneness.machine:Progress", Progress, flat=True),
        PythonSubject(
            "doneness.machine:Progress, fed with bytes",
            Progress,
            lambda reducer, event: reducer.feed_json(json.dumps(event).encode()),
            json_only=True,
            flat=True,
        ),
    )


def forked(reducer: Any) -> Any:
    """An independent copy of an object, its parts, and the containers of both."""
    if hasattr(reducer, "__copy__"):
        return copy(reducer)  # it knows best
    fork = object.__new__(type(reducer))
    for name in _names(reducer):
        value: Any = getattr(reducer, name, ...)
        if type(value) in _CONTAINERS:
            value = value.copy()
        elif _slots(type(value).__mro__):
            value = forked(value)
        if value is not ...:  # a slot may be empty
            setattr(fork, name, value)
    return fork


_CONTAINERS: Final = (list, dict, set)


def _all_of(reducer: object) -> Snapshot:
    return {**_shown(reducer), "hidden": hidden_state(reducer)}


def wrapped_inside(
    subject: Subject, wrap: Callable[[Callable[[str], Any]], Callable[[str], Any]]
) -> Subject | None:
    """The same subject with something around each of its reducers; None for a program.

    What is adapted stays so: it is the reducer within that is wrapped.
    """
    inner: Any = getattr(subject, "inner", subject)
    if not isinstance(inner, PythonSubject):
        return None
    wrapped = inner.wrapped(wrap)
    if inner is subject:
        return wrapped
    return replace(subject, inner=wrapped)  # type: ignore[type-var] # what has an inner one


def _shown(reducer: object) -> Snapshot:
    """The observables that an object has."""
    try:
        values = [(name, getattr(reducer, name, ...)) for name in OBSERVABLES]
        return {name: value for name, value in values if value is not ...}
    except Exception as error:  # noqa: BLE001 # likewise
        return {"failure": f"raised {type(error).__name__}: {error}"}
