"""A reducer of somebody else's in this process: any object with `feed`, an end and a status.

It is not trusted. Each step runs in a thread that can be given up, so that a loop without end is
a verdict and not the end of the checks; it gets its own copy of each event; and whatever it shows
is brought into one form before it is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Final

from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES
from doneness.generators.subject import PythonSubject, Snapshot, Trace, end_transport, hidden_state
from doneness.generators.subjects.program import Patience, Verdict
from doneness.generators.subjects.watch import Stopped, finishes

NOT_RUN: Final[Snapshot] = {"failure": "not run: the reducer hung on an earlier stream"}
_HOSTILE_FACTOR: Final = 5
GIVEN_UP: Final[Snapshot] = {"failure": "not run: the reducer hung too often, and was given up"}
_SUSPECT_SECONDS: Final = 0.5
_START_SECONDS: Final = 10.0


class UnfitObjectError(ValueError):
    """The factory does not make a reducer."""


class PythonObject(PythonSubject):
    """A reducer that a factory makes.

    Args:
        factory: Takes a run; returns an object with `feed`, `close_transport` or `close`, and
            `status`, which may be an attribute or a method, text or an enum.
        answer_seconds: How long one event may take.

    Raises:
        UnfitObjectError: it does not.
    """

    def __init__(
        self, name: str, factory: Callable[[str], Any], *, answer_seconds: float = 4.0
    ) -> None:
        super().__init__(name, factory)
        self._answer_seconds = answer_seconds
        self._patience = Patience()
        self._steps = 0
        self._must_fit()

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""
        shown: list[Snapshot] = []

        def work() -> None:
            for trace in traces:
                shown.append(self._end_of(run, trace))  # noqa: PERF401 # read while it grows

        failure = self._within_time(work)
        if failure is not None:
            shown.append(failure)
        return shown + [NOT_RUN] * (len(traces) - len(shown))

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""
        told: list[list[Snapshot]] = []

        def work() -> None:
            for trace in traces:
                told.append([])
                self._steps_of(run, trace, told[-1])

        failure = self._within_time(work)
        if failure is GIVEN_UP:
            return [[GIVEN_UP] * len(trace) for trace in traces]
        if failure is not None and told:
            missing = len(traces[len(told) - 1]) - len(told[-1])
            told[-1] += [failure] * missing
        return told + [[NOT_RUN] * len(trace) for trace in traces[len(told) :]]

    def after(self, run: str, event: object) -> Snapshot:
        """What is shown after one object, whatever it is, was fed to a new reducer."""
        shown: list[Snapshot] = []
        # A hostile object may be large; that it takes its time is no fault.
        failure = self._within_time(
            lambda: shown.append(self._after(run, event)), factor=_HOSTILE_FACTOR
        )
        return failure or shown[0]

    def wrapped(self, wrap: Callable[[Callable[[str], Any]], Callable[[str], Any]]) -> PythonObject:
        """The same subject with something between it and what it is fed."""
        return PythonObject(self.name, wrap(self._factory), answer_seconds=self._answer_seconds)

    def _after(self, run: str, event: object) -> Snapshot:
        reducer = self._factory(run)
        return self._fed(reducer, event) or self._observed(reducer)

    def _end_of(self, run: str, trace: Trace) -> Snapshot:
        try:
            reducer = self._factory(run)
        except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
            return _raised(error)
        for event in trace:
            failure = self._fed(reducer, event)
            if failure is not None:
                return failure
        shown = self._observed(reducer)
        return shown if "failure" in shown else {**shown, "hidden": _hidden(reducer)}

    def _steps_of(self, run: str, trace: Trace, shown: list[Snapshot]) -> None:
        failure: Snapshot | None = None
        try:
            reducer = self._factory(run)
        except Exception as error:  # noqa: BLE001 # likewise
            failure = _raised(error)
        for event in trace:
            failure = failure or self._fed(reducer, event)
            shown.append(failure or self._observed(reducer))

    def _fed(self, reducer: Any, event: object) -> Snapshot | None:
        self._steps += 1
        try:
            if event is END_OF_TRANSPORT:
                end_transport(reducer)
            else:
                reducer.feed(_copy(event))
        except Stopped:
            raise
        except BaseException as error:  # noqa: BLE001 # SystemExit and the like as well
            return _raised(error)
        return None

    def _observed(self, reducer: Any) -> Snapshot:
        """The observables that the object has, in one form."""
        try:
            read = [(name, getattr(reducer, name, ...)) for name in OBSERVABLES]
            return {name: _in_one_form(value) for name, value in read if value is not ...}
        except Exception as error:  # noqa: BLE001 # likewise
            return _raised(error)

    def _within_time(self, work: Callable[[], None], factor: int = 1) -> Snapshot | None:
        """Do some work step by step; the failure, if a step takes too long or it breaks off."""
        if self._patience.is_lost:
            return GIVEN_UP
        ended, error = finishes(work, factor * self._answer_seconds, lambda: self._steps)
        if ended:
            return None if error is None else _raised(error)
        self._patience.lose(Verdict.HANGS)
        seconds = factor * self._answer_seconds
        self._answer_seconds = min(seconds, _SUSPECT_SECONDS)
        return {
            "failure": f"{Verdict.HANGS}: no answer within {seconds:.1f} s",
            "verdict of the program": str(Verdict.HANGS),
        }

    def _must_fit(self) -> None:
        missing: list[str] = []
        made: list[str] = []

        def look() -> None:
            reducer = self._factory("a run")
            made.append(type(reducer).__name__)
            missing.extend(name for name in ("feed", "status") if not _has(reducer, name))
            if not (_has(reducer, "close_transport") or _has(reducer, "close")):
                missing.append("close_transport (or close)")

        ended, error = finishes(look, _START_SECONDS)
        if not ended:
            raise UnfitObjectError(f"{self.name}('a run') made nothing in {_START_SECONDS:.0f} s")
        if error is not None:
            raise UnfitObjectError(
                f"{self.name}('a run') raised {type(error).__name__}: {error}; "
                "expected a callable that takes the id of a run and returns a reducer"
            )
        if missing:
            raise UnfitObjectError(
                f"{self.name}('a run') returned {made[0]}, which lacks "
                f"{', '.join(missing)}; expected an object with feed, close_transport and status"
            )


def _has(reducer: object, name: str) -> bool:
    """Whether there is such an attribute, also where reading it raises."""
    return hasattr(type(reducer), name) or hasattr(reducer, name)


def _raised(error: BaseException) -> Snapshot:
    return {"failure": f"raised {type(error).__name__}: {error}"}


def _copy(event: object) -> object:
    """An independent copy of an ordinary event, two levels deep; anything else as it is."""
    if type(event) is not dict:
        return event
    return {
        key: dict(value) if type(value) is dict else value  # a hostile dict is not asked
        for key, value in event.items()
    }


def _hidden(reducer: object) -> object:
    try:
        return hidden_state(reducer)
    except Exception:  # noqa: BLE001 # then it has none that can be seen
        return None


def _in_one_form(value: object) -> object:
    """A value as JSON would have it: enums as their values, methods as what they return."""
    if callable(value) and not isinstance(value, type):
        value = value()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {_in_one_form(key): _in_one_form(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_one_form(inner) for inner in value]
    if isinstance(value, AbstractSet):
        return sorted(map(_in_one_form, value), key=str)
    return value
