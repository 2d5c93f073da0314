"""What a reducer in this process shares: events with their owner, and state with other reducers.

The same streams as always, but fed in other company: the caller changes each event once it was
fed, other runs' reducers live and are fed in between, or another view of the same run is fed the
same objects first. None of that may show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Final

from doneness.generators.checks.short_streams import check_streams
from doneness.generators.checks.stream_history import (
    as_they_were,
    contents,
    everything_again,
    repeats,
)
from doneness.generators.checks.stream_parts import Stream
from doneness.generators.divergence import Divergence
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME, play
from doneness.generators.oracle import END_OF_TRANSPORT, Oracle
from doneness.generators.subject import Subject, end_transport, wrapped_inside
from doneness.generators.walks import access_paths

OTHER: Final = "run-B"
_CHECK: Final = "sharing/"
_OTHERS: Final = (
    ("requested c1", "approval wait", "cancel requested", "response unresolved", "a gap by one"),
    ("requested c1", "started c1", "text", "EOF"),
    ("text", "response completed", "succeeded with text", "check right not ok"),
)


class _Between:
    """Stands before a reducer; everything but `feed` is the reducer's own."""

    def __init__(self, reducer: Any) -> None:
        self._reducer = reducer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reducer, name)


class Spoiling(_Between):
    """Changes each event, at every depth, once it was fed."""

    def feed(self, event: object) -> None:
        """Feed a copy, and spoil it."""
        given = _copied(event)
        self._reducer.feed(given)
        _spoil(given)


def _copied(value: Any) -> Any:
    """An independent copy of what JSON can say, in a fifth of the time of one of anything."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


def _spoil(value: Any) -> None:
    inner = list(value.values()) if isinstance(value, dict) else value
    for one in inner if isinstance(inner, list) else ():
        _spoil(one)
    if isinstance(value, dict):
        value.update(dict.fromkeys(value, "spoilt"), more="spoilt")
    elif isinstance(value, list):
        value.append("spoilt")


class SideBySide(_Between):
    """Another reducer of the same run is fed each event first, the very object."""

    def __init__(self, factory: Callable[[str], Any], run: str) -> None:
        self._first = factory(run)
        super().__init__(factory(run))

    def feed(self, event: object) -> None:
        """Feed both with one copy."""
        given = _copied(event)
        self._first.feed(given)
        self._reducer.feed(given)


def crowding(factory: Callable[[str], Any]) -> Callable[[str], Any]:
    """Reducers of which others live at the same time, begun before and after, fed in between."""
    streams = []
    for names in _OTHERS:
        oracle = Oracle(OTHER)
        moves = play(oracle, [BY_NAME[name] for name in names])
        streams.append([move.event for move in moves])

    class Crowded(_Between):
        """Feeds other runs' reducers before and after each event."""

        def __init__(self, run: str) -> None:
            self._older = factory(OTHER)
            super().__init__(factory(run))
            self._turns = 0

        def feed(self, event: object) -> None:
            """Feed the event, with what others are fed around it."""
            older = streams[0][self._turns % len(streams[0])]
            _fed(self._older, _copied(older))
            younger = factory(OTHER)
            for other in streams[self._turns % len(streams)]:
                _fed(younger, _copied(other))
            self._turns += 1
            self._reducer.feed(event)

    return Crowded


def _fed(reducer: Any, event: object) -> None:
    if event is END_OF_TRANSPORT:
        end_transport(reducer)
    else:
        reducer.feed(event)


def _ways() -> Iterator[Stream]:
    return ((RUN, path) for path in access_paths() if path)


FAMILIES: Final[Mapping[str, Callable[[], Iterator[Stream]]]] = {
    "spoilt events": lambda: chain(repeats(), contents(), everything_again()),
    "other reducers": _ways,
    "one event for two": as_they_were,
}

_WRAPPED: Final[Mapping[str, Callable[[Callable[[str], Any]], Callable[[str], Any]]]] = {
    "spoilt events": lambda factory: lambda run: Spoiling(factory(run)),
    "other reducers": crowding,
    "one event for two": lambda factory: partial(SideBySide, factory),
}


def check_sharing(subject: Subject, family: str) -> tuple[int, Divergence | None] | None:
    """How many streams were tried, and the first on which it differs; None for a program."""
    check = f"{_CHECK}{family}"
    wrapped = in_company(subject, check)
    return None if wrapped is None else check_streams(wrapped, check, FAMILIES[family]())


def in_company(subject: Subject, check: str) -> Subject | None:
    """The subject, fed as that check feeds it; None where it needs no company, or can have none.

    A program shares no memory with whoever feeds it.
    """
    inner: Any = getattr(subject, "inner", subject)
    wrap = _WRAPPED.get(check.removeprefix(_CHECK)) if check.startswith(_CHECK) else None
    if wrap is None or getattr(inner, "json_only", True):
        return None
    return wrapped_inside(subject, wrap)
