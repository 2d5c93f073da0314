"""Short streams about what was before: numbers, repeats, strays, and what comes behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, Final, TypeAlias

from doneness.generators.checks import look_alikes
from doneness.generators.checks.letters import (
    Event,
    again,
    ill,
    no_json,
    numbered,
    says,
    skipping,
    stray,
    unheard_of,
)
from doneness.generators.checks.stream_parts import (
    EOF,
    FAILED_RUN,
    GOOD,
    TEXT,
    Stream,
    legal,
    streams,
)
from doneness.generators.exploration import LAYERS, RUN
from doneness.generators.moves import BY_NAME, TEMPLATES, Template, play
from doneness.generators.oracle import Oracle
from doneness.generators.walks import access_paths
from doneness.spec.payloads import SHAPES
from doneness.spec.vocabulary import Kind, Outcome

# Numbers.


def numbers() -> Iterator[Stream]:
    """Gaps to every number that is special to some machine, what is behind, and in each state."""
    for seq in look_alikes.NUMBERS:
        jump = numbered(_always(seq), f"seq {seq:,}"[:40], Kind.TEXT_DELTA, {"text": "x"})
        back = numbered(lambda last: last - 1, "one less", Kind.TEXT_DELTA, {"text": "y"})
        yield from streams(
            (jump, TEXT, TEXT),
            (TEXT, jump, TEXT, back, TEXT),
            (jump, again("the last again", -1), _again(_to("seq", lambda seq: seq + 1))),
        )
    for path in access_paths():
        if len(path) <= STATE_EVENTS_MAX or path[-1].name.startswith("check"):
            yield from streams(*((*path, skipping(letter)) for letter in _BEHIND_A_GAP))


def _always(seq: int) -> Callable[[int], int]:
    return lambda _last: seq


STATE_EVENTS_MAX: Final = 2
_BEHIND_A_GAP: Final = tuple(
    BY_NAME[name]
    for name in (
        "text",
        "requested c1",
        "finished c1",
        "approval wait",
        "succeeded with text",
        "failed with text",
        "check right ok",
        "check right not ok",
        "check of another text ok",
        "kind 'future.completed'",
        "text.delta without text",
    )
)


# Repeats.


Change: TypeAlias = tuple[str, Callable[[Event], Event]]


def repeats() -> Iterator[Stream]:
    """Everything that can be on record, again: as it was, and with something changed."""
    for kind, sample in GOOD.items():
        original = says(kind, sample)
        first = (*legal(kind), original)
        changes = tuple(_changes(kind))
        for change in changes:
            for rest in _ways_of(change):
                yield RUN, (*first, *rest)
        for before in (*_SPOILT, (EOF,), (FAILED_RUN,)):
            for change in changes[:5]:
                yield RUN, (*before, original, _again(change))
                yield RUN, (*first, *before, _again(change))


def as_they_were() -> Iterator[Stream]:
    """Everything that can be on record, and odd contents, once and once more."""
    last = again("the last again", -1)
    for kind, sample in GOOD.items():
        yield RUN, (*legal(kind), says(kind, sample), last)
    for one, _other in (*look_alikes.DIFFERENT, *look_alikes.SAME):
        yield RUN, (unheard_of("future", {"v": one}), last)
        yield RUN, (ill(Kind.TEXT_DELTA, {"text": "x", "v": [{"w": one}]}), last)


_SPOILT: Final = (
    (BY_NAME["a gap by one"],),
    (BY_NAME["kind 'future.completed'"],),
    (BY_NAME["not an envelope: no run"],),
)


def _again(change: Change) -> Template:
    name, function = change
    return again(f"the last id, {name}", -1, function)


def _ways_of(change: Change) -> Iterator[tuple[Template, ...]]:
    other, same = _again(change), again("the last again", -1)
    yield (other,)
    yield other, same
    yield other, other, same
    yield same, other


def _backwards(event: Event) -> Event:
    data = dict(reversed(event["data"].items()))
    return dict(reversed({**event, "data": data}.items()))


def _changes(kind: str) -> Iterator[Change]:
    """The ways to change an event of a kind, its id apart."""
    yield "as it was", dict
    yield "keys in another order", _backwards
    yield _to("seq", lambda seq: seq + 1)
    yield _to("kind", lambda _kind: str(Kind.MODEL_COMPLETED))
    yield _to("data", lambda data: {**data, "more": None})
    yield _to("seq", lambda seq: seq + 1000)
    yield _to("kind", lambda name: str(name).upper())
    yield _to("kind", lambda name: f"{name} ")
    yield _to("data", lambda data: {**data, "_": 1})
    if not SHAPES[Kind(kind)]:
        return
    yield _to("data", lambda _data: {})
    for key in SHAPES[Kind(kind)]:
        yield _to("data", _without(key))
        for value in _OTHER_VALUES:
            yield _to("data", _set(key, value))


_OTHER_VALUES: Final[tuple[object, ...]] = (
    None, "", "other", "X", 0, 1, True, False, [], "x ", "paused",
)  # fmt: skip


def _to(key: str, change: Callable[[Any], object]) -> Change:
    return f"another {key}", lambda event: {**event, key: change(event[key])}


def _without(key: str) -> Callable[[Event], object]:
    return lambda data: {name: value for name, value in data.items() if name != key}


def _set(key: str, value: object) -> Callable[[Event], object]:
    return lambda data: {**data, key: value}


def contents() -> Iterator[Stream]:
    """Contents that differ only in what much takes for the same, and the same in other words."""
    for one, other in (*look_alikes.DIFFERENT, *((b, a) for a, b in look_alikes.DIFFERENT)):
        yield from _on_record({"v": one}, {"v": other})
        yield from _on_record({"v": [{"w": one}]}, {"v": [{"w": other}]})
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _on_record(one, other)
    for one, other in (*look_alikes.SAME, *((b, a) for a, b in look_alikes.SAME)):
        yield from _on_record(one, other)


def _on_record(one: Event, other: Event) -> Iterator[Stream]:
    first, second = unheard_of("future", one), _again(_to("data", lambda _data: other))
    yield RUN, (first, second)
    yield RUN, (first, second, again("the last again", -1))


# Strays, and whatever else changes nothing.


def strays() -> Iterator[Stream]:
    """Every event of another run, where it would matter if it were this one's, and then a probe."""
    foreign = [
        stray(lambda run: f"{run}-other", template)
        for template in TEMPLATES
        if template.group == "kind" and "c2" not in template.name
    ]
    foreign += [
        stray(lambda run: f"{run}-other", template)
        for template in (
            unheard_of("future", {}),
            ill(Kind.TEXT_DELTA, {"text": 1}),
            no_json(Kind.TEXT_DELTA, {"text": "\ud800"}),
            no_json(Kind.APPROVAL_WAIT, {}, id="\ud800"),
            BY_NAME["a gap by one"],
            BY_NAME["a large gap"],
            again("the first again", 0),
            again("the first id, other data", 0, _to("data", lambda data: {**data, "more": 1})[1]),
        )
    ]
    for before, one, probe in product(_SENSITIVE, foreign, _PROBES):
        yield RUN, (*before, one, probe)
    for one in foreign:
        yield RUN, (one, one, says(Kind.TEXT_DELTA, {"text": "y"}, id=f"{RUN}:1"))


_SENSITIVE: Final = tuple(
    tuple(BY_NAME[name] for name in names)
    for names in (
        (),
        ("text",),
        ("requested c1",),
        ("approval wait",),
        ("cancel requested",),
        ("response unresolved",),
        ("succeeded with text",),
        ("EOF",),
    )
)
_PROBES: Final = tuple(
    BY_NAME[name]
    for name in (
        "text",
        "requested c1",
        "finished c1",
        "response completed",
        "succeeded with text",
        "check right ok",
        "EOF",
        "the last again",
    )
)

_TELLING: Final = tuple(
    BY_NAME[name] for name in ("succeeded with text", "check right ok", "finished c1")
)

ACCESS_EVENTS_MAX: Final = 3


@cache
def _states() -> tuple[tuple[tuple[Template, ...], Oracle], ...]:
    """A shortest way to each state of the lifecycle that is at most so many events long."""
    found = []
    for path in access_paths():
        if len(path) <= ACCESS_EVENTS_MAX:
            oracle = Oracle(RUN)
            play(oracle, path)
            found.append((path, oracle))
    return tuple(found)


_AS_OTHERS: Final = ("c2", "empty", "non-ASCII", "odd", "free id", "later id", "upper", "kind ")
"""Letters that leave behind what others leave."""


def behind() -> Iterator[Stream]:
    """In every state: what comes behind an event that exploration does not follow.

    Behind one that leaves the declared state as it was, and behind one that leads to a state to
    which another way was followed.
    """
    key = LAYERS[0].key
    letters = [
        one
        for one in TEMPLATES
        if one.group in ("kind", "eof") and not any(word in one.name for word in _AS_OTHERS)
    ]
    letters += [BY_NAME[name] for name in ("the last again", "the first again", "another run")]
    for path, oracle in _states():
        for template in letters:
            move = template.make(oracle)
            if move is None:
                continue
            after = oracle.fork()
            after.take(move)
            followed = (*path, template) in _access()
            probes = _PROBES if key(after) == key(oracle) else () if followed else _TELLING
            for probe in probes:
                if probe.make(after) is not None:
                    yield RUN, (*path, template, probe)


@cache
def _access() -> frozenset[tuple[Template, ...]]:
    return frozenset(access_paths())


def everything_again() -> Iterator[Stream]:
    """On the way to each state, and behind the end there: each event so far once more."""
    ends = [BY_NAME[f"{outcome} with text"] for outcome in Outcome]
    for path in access_paths():
        ways = [path]
        if len(path) <= ACCESS_EVENTS_MAX:
            ways += [(*path, end) for end in (*ends, EOF)]
        for way in ways:
            for place in range(len(path)):
                yield RUN, (*way, again(f"event {place + 1} again", place))
    first = again("the first again", 0)
    for one, other in product(_STEPS, repeat=2):
        yield RUN, (one, other, first)
        for probe in _PROBES[3:6]:
            yield RUN, (one, other, first, probe)


_STEPS: Final = tuple(
    BY_NAME[name]
    for name in (
        "text",
        "response completed",
        "response unresolved",
        "requested c1",
        "started c1",
        "finished c1",
        "failed c1",
        "approval wait",
        "cancel requested",
        "failed with text",
        "paused with text",
        "succeeded with text",
        "check right ok",
        "EOF",
        "kind 'future.completed'",
        "a gap by one",
    )
)
