"""What a check needs of a reducer under test: traces in, what it shows out.

A trace is the whole life of one reducer: its events in order, `END_OF_TRANSPORT` where the
connection ends. Whole traces and many at a time, because that is what makes a subject in another
process fast.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES
from doneness.machine import Progress

Trace: TypeAlias = Sequence[object]
Snapshot: TypeAlias = Mapping[str, object]
"""The observables that a subject offers; `status` at least.

`hidden` may hold more, abstracted. `failure` says that and how the subject failed to answer.
"""


class Subject(Protocol):
    """A reducer under test.

    Attributes:
        json_only: Whether events reach it as JSON, so that other objects cannot be tried on it.
    """

    name: str
    json_only: bool

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""


def hidden_state(reducer: object) -> tuple[object, ...]:
    """The private flags of a Python object: what of it is true, false or anything else.

    It makes the explored product one with the reducer's own states, not only with what it shows.
    """
    names = [name for base in type(reducer).__mro__ for name in getattr(base, "__slots__", ())]
    values = [getattr(reducer, name, ...) for name in names]
    values += getattr(reducer, "__dict__", {}).values()
    return tuple(value if value is None or isinstance(value, bool) else ... for value in values)


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
        *,
        json_only: bool = False,
    ) -> None:
        self.name = name
        self.json_only = json_only
        self._factory = factory
        self._feed = feed or (lambda reducer, event: reducer.feed(event))

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""
        return [self._run(run, trace) for trace in traces]

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""
        return [list(self._all(run, trace)) for trace in traces]

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
        return {**_shown(reducer), "hidden": hidden_state(reducer)}

    def _step(self, reducer: Any, event: object) -> Snapshot | None:
        try:
            if event is not END_OF_TRANSPORT:
                self._feed(reducer, event)
            elif hasattr(reducer, "close_transport"):
                reducer.close_transport()
            else:
                reducer.close()
        except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
            return {"failure": f"raised {type(error).__name__}: {error}"}
        return None


def own_subjects() -> tuple[PythonSubject, PythonSubject]:
    """The project's own reducer, fed with objects and fed with bytes."""
    return (
        PythonSubject("doneness.machine:Progress", Progress),
        PythonSubject(
            "doneness.machine:Progress, fed with bytes",
            Progress,
            lambda reducer, event: reducer.feed_json(json.dumps(event).encode()),
            json_only=True,
        ),
    )


def _shown(reducer: object) -> Snapshot:
    """The observables that an object has."""
    try:
        return {name: getattr(reducer, name) for name in OBSERVABLES if hasattr(reducer, name)}
    except Exception as error:  # noqa: BLE001 # likewise
        return {"failure": f"raised {type(error).__name__}: {error}"}
