"""Hypothesis strategies for scripted models that misbehave (contract §6).

A script is a list of answers for `machine.agent.scripted_server`. A good answer says text and
makes calls, in fragments that are interleaved, empty, without ids, or with names in pieces; a
fault then cuts, delays, corrupts or withholds it. What is drawn is small, so that what Hypothesis
shrinks to can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from hypothesis import strategies as st

from doneness.machine.agent.scripted_answers import (
    DONE,
    Answer,
    Call,
    Json,
    Send,
    broken_off,
    choice,
    chunk,
    cut_at,
    delayed,
    event,
    fragments,
    malformed,
    never_ending,
    refused,
    unfinished,
)

TOOL_NAMES: Final = ("list_todos", "add_todo", "complete_todo")

texts = st.text(st.characters(exclude_categories=()), max_size=6)  # lone surrogates included
"""Any text that JSON can carry."""

_scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
_objects = st.dictionaries(texts, _scalars, max_size=2)
_proper_arguments = st.one_of(
    st.just({}),
    st.builds(lambda title: {"title": title}, texts),
    st.builds(lambda number: {"todo_id": number}, st.integers(-1, 3) | st.just(2**70)),
)
_bad_arguments = st.sampled_from(["", "{", "[]", "null", '{"title": NaN}', '{"title": 1e999}'])

calls = st.builds(
    Call,
    name=st.sampled_from(TOOL_NAMES) | texts,
    arguments=_proper_arguments | _objects | _bad_arguments | texts,
    call_id=st.sampled_from([None, "", "same", "a", "b"]) | texts,
    pieces=st.integers(1, 3),
)
"""One tool call: known or unknown, with arguments that fit or do not."""

_usages: st.SearchStrategy[Json | None] = st.sampled_from(
    [None, {}, {"total_tokens": 3}, {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}]
)
_reasons = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "odd"])
_noise: st.SearchStrategy[Json] = st.sampled_from(
    [
        chunk(),
        chunk(choice({})),
        chunk(choice({"content": None})),
        chunk(choice({"role": "assistant", "content": ""})),
        chunk(choice({"tool_calls": None})),
        chunk(choice({"content": "other"}, "length", index=1)),
    ]
)


@st.composite
def good_answers(draw: st.DrawFn) -> Answer:
    """A whole answer: some text, some calls, noise between, a usage, a fitting finish reason."""
    chunks: list[Json] = [
        chunk(choice({"content": text})) for text in draw(st.lists(texts, max_size=3))
    ]
    made = draw(st.lists(calls, max_size=3))
    streams = [list(fragments(call, index)) for index, call in enumerate(made)]
    while left := [stream for stream in streams if stream]:
        fragment = draw(st.sampled_from(left)).pop(0)
        chunks += [chunk(choice({"tool_calls": [part]})) for part in _in_pieces(draw, fragment)]
    for noise in draw(st.lists(_noise, max_size=2)):
        chunks.insert(draw(st.integers(0, len(chunks))), noise)
    reason = draw(st.sampled_from(["tool_calls", "stop"])) if made else "stop"
    chunks.append(chunk(choice({}, reason)))
    usage = draw(_usages)
    if usage is not None:
        chunks.append(chunk(usage=usage))
    escaped = draw(st.booleans())
    return Answer((*(event(each, escaped=escaped) for each in chunks), DONE))


def _in_pieces(draw: st.DrawFn, fragment: Json) -> Sequence[Json]:
    """The same fragment, its name perhaps in two pieces, an empty fragment perhaps after it."""
    function = fragment["function"]
    pieces = [fragment]
    if isinstance(function, dict) and function.get("name") and draw(st.booleans()):
        name = str(function["name"])
        cut = len(name) // 2
        first = {**fragment, "function": {**function, "name": name[:cut]}}
        pieces = [first, {"index": fragment["index"], "function": {"name": name[cut:]}}]
    if draw(st.booleans()):
        pieces.append({"index": fragment["index"], "id": None, "function": None})
    return pieces


@st.composite
def _cut(draw: st.DrawFn, good: Answer) -> Answer:
    cut = cut_at(good, draw(st.integers(0, len(good.body))))
    return replace(cut, sized=draw(st.booleans()))


@st.composite
def _reset(draw: st.DrawFn, good: Answer) -> Answer:
    return cut_at(good, draw(st.integers(0, len(good.body))), reset=True)


@st.composite
def _malformed(draw: st.DrawFn, good: Answer) -> Answer:
    shapes = [b"data: {\n\n", b"data: null\n\n", b"data: []\n\n", b"data: \xff\n\n"]
    odd = [
        {"choices": [{"delta": {"content": 1}}]},
        {"choices": 1},
        {"usage": {"total_tokens": -1}},
    ]
    data = st.sampled_from([*shapes, *(event(each).data for each in odd)])
    data |= st.binary(max_size=8).map(lambda junk: b"data: " + junk + b"\n\n")
    return malformed(good, draw(st.integers(0, len(good.steps))), draw(data))


@st.composite
def _other_reason(draw: st.DrawFn, good: Answer) -> Answer:
    last = event(chunk(choice({}, draw(_reasons))))
    return replace(good, steps=(*unfinished(good).steps, last, DONE))


def _place(good: Answer) -> st.SearchStrategy[int]:
    return st.integers(0, len(good.steps))


Fault = Callable[[Answer], st.SearchStrategy[Answer]]

TIMELESS: Final[tuple[Fault, ...]] = (
    _cut,
    _malformed,
    _other_reason,
    lambda good: st.just(unfinished(good)),
    lambda good: st.just(replace(unfinished(good), sized=False)),
    lambda good: _place(good).map(lambda place: broken_off(good, "overloaded", place)),
    lambda good: _place(good).map(lambda place: malformed(good, place, b": heartbeat\n\n")),
    lambda good: st.just(replace(good, steps=(Send(good.body.replace(b"\n", b"\r\n")),))),
    lambda _good: st.sampled_from([400, 401, 404, 429, 500, 503]).map(
        lambda status: refused(status, "no", retry_after_ms=1)
    ),
)
"""Faults after which the same run happens again; the last but two are none for a good client."""

TIMED: Final[tuple[Fault, ...]] = (
    _reset,  # how much of what was sent still arrives is up to the system
    lambda good: _place(good).map(lambda place: never_ending(good, place)),
    lambda good: st.just(delayed(good, 0.001)),
)
"""Faults in time: what happens then depends on the client's patience."""


def scripts(faults: Sequence[Fault] = (*TIMELESS, *TIMED)) -> st.SearchStrategy[list[Answer]]:
    """Scripts of up to four answers, of which any may have a fault."""
    faulty = st.sampled_from(faults)
    broken = st.tuples(good_answers(), faulty).flatmap(lambda pair: pair[1](pair[0]))
    return st.lists(good_answers() | good_answers() | broken, min_size=1, max_size=4)
