"""What a shrunk stream must still show: that a subject differs, or that a named property breaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Final

from doneness.generators.checks import properties
from doneness.generators.checks.properties import Breach, Story
from doneness.generators.classify import moves
from doneness.generators.divergence import Divergence, compare, was_not_run
from doneness.generators.exploration import agrees
from doneness.generators.log_shrink import StillShows
from doneness.generators.narrow import narrowed
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Snapshot, Subject

PROPERTIES: Final[Mapping[str, Callable[[Story], Breach | None]]] = {
    "P1": properties.p1_done_is_earned,
    "P2": properties.p2_issues_stay,
    "P5": properties.p5_eof_makes_no_success,
    "P6": properties.p6_terminal_stays,
    "P7": properties.p7_no_success_with_an_open_call,
    "P8": properties.p8_nothing_raises,
}
"""The properties that one stream can break by itself."""

_NEEDS: Final = dict(properties.PER_STORY)
_RAISING: Final = "P8"
"""Judges whatever reading raises, so all is read for it."""


class GivenUpError(Exception):
    """The subject misbehaved so often that it is not asked any more."""


class NotShownError(ValueError):
    """The subject does not show what a property is about."""


def differs(subject: Subject, run: str) -> StillShows:
    """Whether the subject shows something else than the declaration, at the end of the stream.

    What it returns raises `GivenUpError`.
    """
    return lambda events: _differs(subject, run, moves(run, events))


def _differs(subject: Subject, run: str, played: Sequence[Move]) -> bool:
    oracle = Oracle(run)
    for move in played:
        oracle.take(move)
    [shown] = subject.last(run, [[move.event for move in played]])
    _require_answer(shown)
    return not agrees(oracle.observables(), shown)


def _require_answer(shown: Snapshot) -> None:
    if was_not_run(shown.get("failure")):
        raise GivenUpError(str(shown["failure"]))


def breaks(subject: Subject, run: str, rule: str) -> StillShows:
    """Whether the subject breaks a named property anywhere in the stream.

    What it returns raises as `breach` does.
    """
    asked = _asked_for(subject, rule)

    def shows(events: list[object]) -> bool:
        return _breach(asked, run, rule, moves(run, events)) is not None

    return shows


def breach(subject: Subject, run: str, rule: str, played: Sequence[Move]) -> Breach | None:
    """The breach of a named property by a stream, if there is one.

    Raises:
        GivenUpError: likewise.
        NotShownError: the subject lacks an observable of that property.
    """
    return _breach(_asked_for(subject, rule), run, rule, played)


def _asked_for(subject: Subject, rule: str) -> Subject:
    return subject if rule == _RAISING else narrowed(subject, _NEEDS[PROPERTIES[rule]])


def _breach(subject: Subject, run: str, rule: str, played: Sequence[Move]) -> Breach | None:
    [shown] = subject.every(run, [[move.event for move in played]])
    for snapshot in shown:
        _require_answer(snapshot)
    if rule != _RAISING:
        shown = list(takewhile(lambda snapshot: "failure" not in snapshot, shown))
        missing = [name for name in _NEEDS[PROPERTIES[rule]] if shown and name not in shown[0]]
        if missing:
            raise NotShownError(
                f"{rule} is about {', '.join(missing)}, which {subject.name} does not show: "
                "choose another property, or none"
            )
    return PROPERTIES[rule](Story(run, (), tuple(played[: len(shown)]), tuple(shown)))


def first_difference(subject: Subject, run: str, played: Sequence[Move]) -> int | None:
    """The length of a prefix at whose end the subject differs; None if none was found.

    A difference may pass by (a *done* shown too early is overtaken by the real one), so the whole
    stream is looked at step by step where that is cheap; a long one at its end, and then at seven
    places before.
    """
    if len(played) <= STEPWISE_MAX:
        found = compare(subject, "recorded stream", run, played)
        return None if found is None else len(found.lines)
    lengths = (len(played), *(len(played) * eighth // 8 for eighth in range(1, 8)))
    return next((length for length in lengths if _differs(subject, run, played[:length])), None)


STEPWISE_MAX: Final = 5_000


def shown_at_the_end(subject: Subject, run: str, events: Sequence[object]) -> Divergence | None:
    """The divergence of a short stream."""
    return compare(subject, "recorded stream", run, moves(run, events))
