"""Whatever a stream holds, no adapter raises, and nothing that it cannot read passes in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Progress
from doneness.machine.adapters.a2a import A2AAdapter
from doneness.machine.adapters.ag_ui import AGUIAdapter
from doneness.machine.adapters.base import Anything, WireAdapter
from doneness.machine.adapters.capture import ADAPTERS, taken

FORMATS = sorted(ADAPTERS)
NAMES = sorted(
    {
        field
        for adapter in ADAPTERS.values()
        for row in adapter.table.values()
        if row.shape not in (str, Anything)
        for field in row.shape.__struct_encode_fields__
    }
    | {"type", "kind", "jsonrpc", "result", "object", "id", "state", "text", "parts", "delta"}
)
WORDS = [
    "x",
    "task-1",
    "assistant",
    "agent",
    "success",
    "completed",
    "working",
    "stop",
    "end_turn",
    "function_call",
    "tool_use",
    "text",
]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 3), st.sampled_from(WORDS), st.text(max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=8,
)


def events(adapter: type[WireAdapter]) -> st.SearchStrategy[Any]:
    types = st.sampled_from([*adapter.table, "hologram"])
    members = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)
    typed = st.builds(lambda type_, rest: {**rest, "type": type_, "kind": type_}, types, members)
    return st.one_of(typed, typed, members, VALUES)


@pytest.mark.parametrize("format_", FORMATS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_json_is_judged_and_none_raises(format_: str, data: st.DataObject) -> None:
    adapter = ADAPTERS[format_]("run")
    stream = data.draw(st.lists(events(ADAPTERS[format_]), max_size=8))
    runs: dict[str, Progress] = {}
    for value in stream:
        for envelope in adapter.feed(json.dumps(value)):
            runs.setdefault(envelope["run"], Progress(envelope["run"])).feed(envelope)
    assert all(progress.status != "done" for progress in runs.values())


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"17",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"type": ' * 10_000 + b"1" + b"}" * 10_000,
        b'{"type": 1}',
        b'{"type": "\\ud800"}',
        b'{"type": "hologram", "sequence_number": ' + b"9" * 5000 + b"}",
        b'{"type": "hologram", "sequence_number": 1, "x": "\\ud800"}',
        b'{"sequence_number": 1, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"kind": "task"}',
        b'{"jsonrpc": "2.0"}',
        b'{"choices": {}}',
        b'{"choices": [], "object": 0}',
        b'{"choices": [], "object": {}}',
        b'{"choices": [], "object": false}',
    ],
)
def test_what_cannot_be_read_blocks_success(format_: str, line: bytes) -> None:
    adapter = ADAPTERS[format_]("run")
    progress = Progress("run")
    for envelope in adapter.feed(line):
        progress.feed(envelope)
    assert progress.status == "unknown"
    progress.feed(adapter.producer.emit("run.ended", outcome="succeeded", final_text=""))
    assert progress.status == "unknown"


@pytest.mark.parametrize("format_", FORMATS)
@given(chunks=st.lists(st.binary(max_size=20), max_size=6))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_taken_as_a_capture(format_: str, chunks: list[bytes]) -> None:
    adapter = ADAPTERS[format_]("run")
    progress = Progress("run")
    for event in taken(chunks, adapter):
        for envelope in event.envelopes:
            progress.feed(envelope)
    assert progress.terminal is None


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    ("capture", "blocked"),
    [
        (b"1\n", 1),
        (b"null", 1),
        (b"true\n", 1),
        (b'"x"\n', 1),
        (b"\xef\xbb\xbf  -1.5e3\nnull\n\n[]\n", 3),
        (b"[1, null, [[]]]", 3),
        (b'{"events": 1}', 1),
        (b'{"stream": null, "input": ["x", {}]}', 2),
        (b"data: null\n\ndata: 1\n\ndata:\n\n", 3),
        (b"hello\n", 1),
        (b"NaN", 1),
        (b"<html>\n<p>502 Bad Gateway\n", 1),
    ],
)
def test_what_is_no_event_is_named(format_: str, capture: bytes, blocked: int) -> None:
    """Each line of JSON that is no event, and a capture that is neither JSON nor events."""
    for chunks in ([capture], [capture[place : place + 1] for place in range(len(capture))]):
        adapter = ADAPTERS[format_]("run")
        progress = Progress("run")
        envelopes = [envelope for event in taken(chunks, adapter) for envelope in event.envelopes]
        for envelope in envelopes:
            progress.feed(envelope)
        assert len(envelopes) == blocked
        assert progress.issues == ["unknown_event"]


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "capture", [b"", b" \n", b"[]", b": ping\n\n", b"retry: 9\n\n", b"data: {}\n", b"id\r\r"]
)
def test_what_holds_no_event_yet_is_no_breach(format_: str, capture: bytes) -> None:
    assert list(taken([capture], ADAPTERS[format_]("run"))) == []


@pytest.mark.parametrize("name", ["stream", "events", "input"])
def test_the_events_may_lie_in_an_object(name: str) -> None:
    event = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    document = {"name": "x", "input": {"messages": []}, "stream": None, name: [event]}
    for indent in (None, 2):
        capture = json.dumps(document, indent=indent).encode()
        [said] = taken([capture], AGUIAdapter("run"))
        assert said == ("RUN_STARTED", ())


def test_foreign_text_is_kept_short_and_writable() -> None:
    adapter = ADAPTERS["ag-ui"]("run")
    [envelope] = adapter.feed_value({"type": "\ud800" * 500})
    assert len(str(envelope["data"]["type"])) == 200
    json.dumps(envelope, ensure_ascii=False).encode()


def test_text_that_is_no_unicode_blocks_success() -> None:
    """The adapter hands it on; the reducer judges it."""
    adapter = ADAPTERS["ag-ui"]("run")
    progress = Progress("run")
    for line in (
        '{"type":"RUN_STARTED","threadId":"t","runId":"r"}',
        '{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"\\ud800"}',
        '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}',
    ):
        for envelope in adapter.feed(line):
            progress.feed(envelope)
    assert (progress.status, progress.issues[0]) == ("unknown", "not_json")


@pytest.mark.parametrize(
    ("deltas", "issues"),
    [(["\\ud83d\\ude00"], []), (["\\ud83d", "\\ude00"], ["not_json", "sequence_gap_or_reorder"])],
)
def test_a_letter_comes_whole_or_it_is_no_text(deltas: list[str], issues: list[str]) -> None:
    """A surrogate pair in one fragment is a letter; halves in two fragments are never joined."""
    adapter = ADAPTERS["chat"]("run")
    progress = Progress("run")
    for delta in deltas:
        chunk = f'{{"id":"c","choices":[{{"index":0,"delta":{{"content":"{delta}"}}}}]}}'
        for envelope in adapter.feed(chunk):
            progress.feed(envelope)
    progress.feed(adapter.producer.emit("text.delta", text=""))
    assert progress.issues == issues
    assert progress.text == ("" if issues else "\N{GRINNING FACE}")


def test_the_host_may_bind_the_thread_and_the_task() -> None:
    """Then the first event cannot choose it."""

    begun = AGUIAdapter("run", thread_id="t").feed(
        '{"type":"RUN_STARTED","threadId":"other","runId":"r"}'
    )
    assert [envelope["kind"] for envelope in begun] == ["adapter.contradiction"]
    status = {"state": "TASK_STATE_COMPLETED"}
    foreign = A2AAdapter("run", task_id="t").feed_value(
        {"statusUpdate": {"taskId": "other", "status": status}}
    )
    assert [envelope["run"] == "run" for envelope in foreign] == [False]
