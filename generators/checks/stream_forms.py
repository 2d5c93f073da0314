"""Short streams about forms: what is no payload, no kind, no envelope, no JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from doneness.generators.checks import look_alikes
from doneness.generators.checks.letters import (
    Event,
    again,
    ill,
    no_envelope,
    no_json,
    says,
    stray,
    unheard_of,
)
from doneness.generators.checks.stream_parts import (
    ALSO_GOOD,
    CALL,
    EOF,
    FAILED_RUN,
    GOOD,
    TEXT,
    Stream,
    legal,
    streams,
)
from doneness.generators.classify import FITS
from doneness.generators.exploration import RUN
from doneness.generators.moves import Template
from doneness.generators.oracle import Move, Oracle
from doneness.spec import payloads
from doneness.spec.payloads import SHAPES
from doneness.spec.vocabulary import Kind

# Payloads and envelopes.


def bad_payloads() -> Iterator[Stream]:
    """Each kind with each departure from its form, where a good one would be accepted."""
    samples = [
        (kind, sample) for kind in SHAPES for sample in (GOOD[kind], *ALSO_GOOD.get(kind, ()))
    ]
    for kind, sample in samples:
        before, shape = legal(kind), SHAPES[kind]
        for key, form in shape.items():
            wrong = look_alikes.WRONG_VALUES
            wrong += look_alikes.WRONG_OUTCOMES if form == payloads.OUTCOME else ()
            for value in wrong:
                if not FITS[form](value):
                    yield RUN, (*before, ill(kind, {**sample, key: value}))
            without = {name: value for name, value in sample.items() if name != key}
            yield RUN, (*before, ill(kind, without))
            for other in (key.title().replace("_", ""), key.upper(), f"{key} ", f"_{key}"):
                if other not in shape:
                    yield RUN, (*before, ill(kind, {**without, other: sample[key]}))
                    yield RUN, (*before, ill(kind, {**sample, other: sample[key]}))
        for more in look_alikes.MORE_KEYS:
            for value in look_alikes.MORE_VALUES if more in ("more", "_meta", "x") else (None, "x"):
                if more not in shape:
                    yield RUN, (*before, ill(kind, {**sample, more: value}))
        if shape:
            yield RUN, (*before, ill(kind, {}))


def unknown_kinds() -> Iterator[Stream]:
    """Kinds that are misspelt, mean something to others, or to a language."""
    for kind in Kind:
        for other in look_alikes.misspelt(kind):
            if other not in list(Kind):
                yield RUN, (*legal(kind), _unheard_of_like(other, kind))
    for other in (*look_alikes.STRANGE_KINDS, *look_alikes.NAMES):
        for data in ({}, {"text": "x"}, {"call_id": CALL}, {"message": "x"}):
            yield RUN, (unheard_of(other, data),)
    for data in look_alikes.TELLING_DATA:
        yield RUN, (TEXT, unheard_of("future", data), TEXT)


def _unheard_of_like(name: str, kind: str) -> Template:
    like = says(kind, GOOD[kind])

    def make(oracle: Oracle) -> Move | None:
        move = like.make(oracle)
        event: Any = move.event if move is not None else {}
        return unheard_of(name, event["data"]).make(oracle)

    return Template(f"kind {name!a:.40} like {kind}", "kind", make)


def malformed() -> Iterator[Stream]:
    """What is no envelope, and then the good event: nothing may have been kept of the first."""
    for kind in (Kind.TEXT_DELTA, Kind.APPROVAL_WAIT, Kind.RUN_ENDED):
        good = says(kind, GOOD[kind])
        for name, change in _not_envelopes():
            flawed = no_envelope(name, change, good)
            yield RUN, (flawed, good)
            if kind == Kind.TEXT_DELTA:
                yield RUN, (TEXT, flawed, again("the last again", -1))
    for name, change in _not_envelopes():
        foreign = stray(lambda run: f"{run}-other", TEXT)
        yield RUN, (no_envelope(f"{name}, of another run", change, foreign), TEXT)
        known = again("the last again", -1)
        yield RUN, (TEXT, no_envelope(f"{name}, of an event on record", change, known))


_WRONG_DATA: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, 1.5, "", "x", "{}", [], [{}], ["text", "x"], [1],
)  # fmt: skip
_NOTHING: Final[tuple[Any, ...]] = (
    {}, [], "", 0, False, True, 1, 1.5, "null", "[DONE]", "data: {}",
)  # fmt: skip
_WRONG_SEQ: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, -2, 1.5, 0.5, -0.5, "1", "01", "one", "", [], [1], {}, {"seq": 1},
    1e300, 1.0, 2.0, 1e15,
)  # fmt: skip


def _not_envelopes() -> Iterator[tuple[str, Callable[[Event], object]]]:
    for key in ("run", "id", "seq", "kind", "data"):
        yield f"no {key}", _without(key)
        for other in (key.upper(), key.title(), f"{key} ", f"_{key}"):
            yield f"{other!r} for {key}", _renamed(key, other)
    for key in ("run", "id", "kind"):
        for value in (None, True, False, 0, 1, 1.5, "", [], {}, ["x"], [""], {"id": "x"}):
            yield f"{key} is {value!r}", _changed(**{key: value})
    for seq in _WRONG_SEQ:
        yield f"seq is {seq!r}", _changed(seq=seq)
    for data in _WRONG_DATA:
        yield f"data is {data!r}", _changed(data=data)
    for more, value in product(look_alikes.MORE_KEYS, (None, "x", 1)):
        if more not in ("run", "id", "seq", "kind", "data"):
            yield f"one more key, {more!a}: {value!r}", _changed(**{more: value})
    yield "its text", json.dumps
    yield "in a list", lambda event: [event]
    yield "twice in a list", lambda event: [event, event]
    yield "its members in a list", lambda event: list(event.values())
    yield "its pairs in a list", lambda event: [list(pair) for pair in event.items()]
    yield "in data", lambda event: {"data": event}
    yield "in an event", lambda event: {"event": event}
    yield "as a server-sent event", lambda event: {"event": "message", "data": json.dumps(event)}
    for nothing in _NOTHING:
        yield f"{nothing!r}", _always(nothing)


def _always(value: object) -> Callable[[Event], object]:
    return lambda _event: value


def _without(key: str) -> Callable[[Event], object]:
    return lambda event: {name: value for name, value in event.items() if name != key}


def _renamed(key: str, other: str) -> Callable[[Event], object]:
    return lambda event: {other if name == key else name: event[name] for name in event}


def _changed(**changes: object) -> Callable[[Event], object]:
    return lambda event: {**event, **changes}


def not_json() -> Iterator[Stream]:
    """Half a surrogate pair at every place; then the good event, of which nothing was kept."""
    half = ("\ud800", "a\udfff", "\udc00b", "\ude00\ud83d")
    for text in half:
        for data in (
            {"text": text},
            {"text": "x", text: 1},
            {"text": [text]},
            {"text": {"a": [{"b": text}]}},
            {"text": "x", "more": {text: {}}},
            {"text": {"a": {text: 1}}},
            {"text": [[["x", text]]]},
        ):
            yield from _around(no_json(Kind.TEXT_DELTA, data))
        yield from _around(no_json(Kind.APPROVAL_WAIT, {text: 1}))
        yield from _around(no_json(Kind.APPROVAL_WAIT, {}, id=text))
        yield from _around(no_json(text, {}))
        yield from _around(no_json(f"text.delta{text}", {"text": "x"}))
        for kind, form in ((k, f) for k, shape in SHAPES.items() for f in shape):
            yield RUN, (*legal(kind), no_json(kind, {**_without_callables(kind), form: text}))


def _around(flawed: Template) -> Iterator[Stream]:
    yield from streams(
        (flawed, TEXT),
        (flawed, flawed, TEXT),
        (EOF, flawed),
        (FAILED_RUN, flawed),
        (TEXT, _under_a_known_id(flawed)),
    )


def _under_a_known_id(flawed: Template) -> Template:
    """A flawed event under an id that is on record: it is not compared."""

    def make(oracle: Oracle) -> Move | None:
        move = flawed.make(oracle)
        if move is None or not isinstance(move.event, dict) or not oracle.remembered:
            return None
        id_ = next(iter(oracle.remembered))
        if not move.event["id"].isascii():
            return move
        return Move(move.name, {**move.event, "id": id_}, caught=move.caught)

    return Template(f"{flawed.name}, under a known id", "json", make)


def _without_callables(kind: str) -> Event:
    return {key: "" if callable(value) else value for key, value in GOOD[kind].items()}
