"""Long streams: what shows only after many events, or with events that are large.

Exploration counts to twelve. A program may forget after a hundred ids, take ten calls and no
more, or count in a byte; these streams go past the limits that people choose. A stream is compared
at its end alone, and only what differs is looked at step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from doneness.generators.checks.letters import again, says, unheard_of
from doneness.generators.checks.shortening import shortest
from doneness.generators.divergence import (
    NOT_READ,
    Divergence,
    compare,
    compare_at_end,
    first_in,
    seen_once,
)
from doneness.generators.exploration import RUN, agrees
from doneness.generators.moves import BY_NAME, Template, play
from doneness.generators.oracle import Oracle
from doneness.generators.subject import Subject
from doneness.spec.vocabulary import Kind

Long: TypeAlias = Sequence[Template]

CALLS: Final = 130
REPEATED: Final = 300
REMEMBERED: Final = 1_100
LEVELS: Final = 200
MEMBERS: Final = 3_000


def _calls(kind: str, numbers: range) -> list[Template]:
    return [says(kind, {"call_id": f"call-{number}"}) for number in numbers]


def many_calls() -> Iterator[Long]:
    """Calls at once and one after the other; one of them may be left open."""
    every = range(CALLS)
    requested = _calls(Kind.TOOL_REQUESTED, every)
    started = _calls(Kind.TOOL_STARTED, every)
    finished = _calls(Kind.TOOL_FINISHED, every)
    end = [BY_NAME["succeeded with text"], BY_NAME["check right ok"]]
    yield [*requested, *started, *finished, *end]
    yield [*requested, *reversed(finished), *end]
    for left in (0, 3, CALLS // 2, CALLS - 1):
        settled = [one for number, one in enumerate(finished) if number != left]
        yield [*requested, *settled, end[0]]
    yield [one for three in zip(requested, started, finished, strict=True) for one in three] + end
    yield [*requested, *finished, requested[0]]
    yield [*requested, *finished, requested[CALLS // 2], finished[1]]
    yield [*requested, *_calls(Kind.TOOL_FAILED, every), *end]


def many_ids() -> Iterator[Long]:
    """Ids that were on record long ago."""
    for long in (20, 70, 140, REMEMBERED):
        texts = [BY_NAME["text"]] * long
        free = [BY_NAME["text under a free id"]] * long
        for before in (texts, free):
            yield [*before, again("the first again", 0), again("the fifth again", 4)]
            yield [*before, again("the first id, other data", 0, _emptied)]
        yield [BY_NAME["approval wait"], *texts, again("the first again", 0)]


def _emptied(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "data": {}}


def many_times() -> Iterator[Long]:
    """The same letter many times, then the good end that it leads to."""
    end = [BY_NAME["succeeded with text"], BY_NAME["check right ok"], BY_NAME["the last again"]]
    for name in (
        "text",
        "empty text",
        "response completed",
        "response unresolved",
        "approval wait",
        "cancel requested",
        "another run",
        "the last again",
        "EOF",
        "not an envelope: no run",
        "not JSON: half a surrogate pair",
        "the last id, other data",
        "a gap by one",
        "a repeat of the last seq",
        "kind 'future.completed'",
        "started c2",
        "failed with text",
    ):
        yield [BY_NAME["text"], *[BY_NAME[name]] * REPEATED, *end]
    yield [BY_NAME["response unresolved"], BY_NAME["response completed"]] * REPEATED + end
    for name in ("the last again", "another run"):
        yield [*end[:2], *[BY_NAME[name]] * REPEATED]


def large_events() -> Iterator[Long]:
    """Data that is deep, or wide, or both: right in form, and no payload of any kind."""
    deep: object = "x"
    for _ in range(LEVELS):
        deep = [deep]
    nested: object = "x"
    for _ in range(LEVELS):
        nested = {"a": nested}
    wide = {f"key-{number}": number for number in range(MEMBERS)}
    for data in ({"v": deep}, {"v": nested}, wide, {"v": ["x"] * MEMBERS}, {"v": "x" * 1_500_000}):
        large = unheard_of("future", data)
        yield [large, again("the last again", -1), BY_NAME["text"]]
        yield [large, again("the last id, other data", -1, _emptied)]
    pieces = [says(Kind.TEXT_DELTA, {"text": f"{number % 10}" * 1_000}) for number in range(100)]
    yield [*pieces, BY_NAME["EOF"]]


FAMILIES: Final[Mapping[str, Callable[[], Iterator[Long]]]] = {
    "many calls": many_calls,
    "many ids": many_ids,
    "many times": many_times,
    "large events": large_events,
}


def check_long(
    subject: Subject, check: str, streams: Iterator[Long]
) -> tuple[int, Divergence | None]:
    """How many streams were tried, and the first on which the subject differs, shortened."""
    tried = 0
    for templates in streams:
        tried += 1
        oracle = Oracle(RUN)
        moves = play(oracle, templates, subject.takes)
        [shown] = subject.last(RUN, [[move.event for move in moves]])
        if not agrees(oracle.observables(), shown):
            found = compare(subject, check, RUN, moves)
            found = found or compare_at_end(subject, check, RUN, moves)
            if found is not None:
                return tried, shortest(subject, found)
            once = [*[NOT_READ] * (len(moves) - 1), shown]
            found = first_in(subject.name, check, RUN, moves, once)
            return tried, found and seen_once(found)
    return tried, None
