"""What a check needs of a reducer under test: traces in, what it shows out.

A trace is the whole life of one reducer: its events in order, `END_OF_TRANSPORT` where the
connection ends. Whole traces and many at a time, because that is what makes a subject in another
process fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES

Trace: TypeAlias = Sequence[object]
Snapshot: TypeAlias = Mapping[str, object]
"""The observables that a subject offers; `status` at least. `hidden` may hold more, abstracted."""


class Subject(Protocol):
    """A reducer under test."""

    name: str

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""

    def every(self, run: str, trace: Trace) -> list[Snapshot]:
        """What is shown after each event of one trace."""


def hidden_state(reducer: object) -> tuple[object, ...]:
    """The private flags of a Python object: what of it is true, false or anything else.

    It makes the explored product one with the reducer's own states, not only with what it shows.
    """
    slots = getattr(type(reducer), "__slots__", ())
    values = [getattr(reducer, name, None) for name in slots] or vars(reducer).values()
    return tuple(value if value is None or isinstance(value, bool) else None for value in values)


class PythonSubject:
    """A reducer in this process.

    Args:
        factory: Takes a run, returns an object with `feed`, `close_transport` or `close`, and
            at least `status` to read.
        feed: How an event goes in, where not by `feed`.
    """

    def __init__(
        self,
        name: str,
        factory: Callable[[str], Any],
        feed: Callable[[Any, object], None] | None = None,
    ) -> None:
        self.name = name
        self._factory = factory
        self._feed = feed or (lambda reducer, event: reducer.feed(event))

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""
        return [self._run(run, trace) for trace in traces]

    def every(self, run: str, trace: Trace) -> list[Snapshot]:
        """What is shown after each event of one trace."""
        reducer = self._factory(run)
        shown: list[Snapshot] = []
        for event in trace:
            self._step(reducer, event)
            shown.append(snapshot_of(reducer))
        return shown

    def _run(self, run: str, trace: Trace) -> Snapshot:
        reducer = self._factory(run)
        for event in trace:
            self._step(reducer, event)
        return {**snapshot_of(reducer), "hidden": hidden_state(reducer)}

    def _step(self, reducer: Any, event: object) -> None:
        if event is not END_OF_TRANSPORT:
            self._feed(reducer, event)
        elif hasattr(reducer, "close_transport"):
            reducer.close_transport()
        else:
            reducer.close()


def snapshot_of(reducer: object) -> dict[str, object]:
    """The observables that an object has."""
    return {name: getattr(reducer, name) for name in OBSERVABLES if hasattr(reducer, name)}
