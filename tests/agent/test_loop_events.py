"""The loop over real HTTP: which events come, in which order, for each way an answer may go.

Every test runs twice, in ordinary and in asynchronous code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from doneness.machine.agent.conversation import Event, Message
from doneness.machine.agent.scripted_answers import (
    Answer,
    Call,
    Hold,
    answer,
    broken_off,
    choice,
    chunk,
    cut_at,
    cut_in_character,
    cut_in_event,
    event,
    from_chunks,
    malformed,
    refused,
    unfinished,
)

Run = Callable[..., list[Event]]


def types(events: list[Event]) -> list[object]:
    return [each["type"] for each in events]


def only(events: list[Event], kind: str) -> list[Event]:
    return [each for each in events if each["type"] == kind]


def test_an_answer_without_a_call_ends_in_done(run: Run) -> None:
    messages: list[Message] = [{"role": "user", "content": "hello"}]
    events = run([answer("合成", "巡检")], messages)
    assert types(events) == ["iteration_start", "token", "token", "usage", "done"]
    assert [each["content"] for each in only(events, "token")] == ["合成", "巡检"]
    assert events[0]["iteration"] == 1
    assert only(events, "usage")[0]["total_tokens"] == 18
    assert all(isinstance(each["ts"], float) for each in events)
    assert messages[1:] == [{"role": "assistant", "content": "合成巡检"}]


def test_the_calls_of_a_round_run_in_order_and_enter_the_messages_together(run: Run) -> None:
    messages: list[Message] = [{"role": "user", "content": "hello"}]
    calls = Call("add_todo", {"title": "买牛奶"}, "a"), Call("complete_todo", {"todo_id": 1}, "b")
    events = run([answer("I will.", *calls, usage=None), answer("Done.", usage=None)], messages)
    assert types(events) == [
        *("iteration_start", "token"),
        *("tool_start", "tool_result", "tool_start", "tool_result"),
        *("iteration_start", "token", "done"),
    ]
    assert [each["args"] for each in only(events, "tool_start")] == [
        {"title": "买牛奶"},
        {"todo_id": 1},
    ]
    results = only(events, "tool_result")
    assert [(each["call_id"], each["is_error"]) for each in results] == [("a", False), ("b", False)]
    assert json.loads(str(results[1]["output"])) == {
        "todo_id": 1,
        "title": "买牛奶",
        "completed": True,
    }
    assert [message["role"] for message in messages] == [
        *("user", "assistant", "tool", "tool"),
        "assistant",
    ]
    assert [message["tool_call_id"] for message in messages[2:4]] == ["a", "b"]


def test_fragments_are_joined_by_their_index(run: Run) -> None:
    """Interleaved, empty, the name in pieces, the id late, repeated or missing."""
    fragments = [
        {"index": 1, "id": "", "function": {"name": "add_", "arguments": ""}},
        {"index": 0, "id": None, "type": "function", "function": {"name": "list_todos"}},
        {"index": 1, "function": {"name": "todo", "arguments": '{"ti'}},
        {"index": 0, "function": {"arguments": "{"}},
        {"index": 1, "id": "late", "function": {"arguments": 'tle": "x'}},
        {"index": 0, "function": None},
        {"index": 0, "function": {"name": None, "arguments": "}"}},
        {"index": 1, "id": "late", "function": {"arguments": '"}'}},
    ]
    chunks = [chunk(choice({"tool_calls": [fragment]})) for fragment in fragments]
    events = run([from_chunks([*chunks, chunk(choice({}, "tool_calls"))]), answer("ok")])
    starts = [(each["call_id"], each["name"], each["args"]) for each in only(events, "tool_start")]
    assert starts == [("call_1_1", "list_todos", {}), ("late", "add_todo", {"title": "x"})]
    assert [each["is_error"] for each in only(events, "tool_result")] == [False, False]


@pytest.mark.parametrize("call_id", [None, "", "same"])
def test_each_call_of_a_run_has_an_id_of_its_own(run: Run, call_id: str | None) -> None:
    messages: list[Message] = []
    calls = [Call("list_todos", {}, call_id)] * 2
    events = run([answer(*calls), answer(*calls), answer("ok")], messages)
    ids = [each["call_id"] for each in only(events, "tool_start")]
    assert len(set(ids)) == 4
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ids


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("complete_todo", {"todo_id": 99}, "no entry has the id 99"),
        ("complete_todo", {"todo_id": "soon"}, "valid integer"),
        ("complete_todo", {}, "todo_id"),
        ("list_todos", {"extra": 1}, "extra"),
        ("format_disk", {}, "unknown tool 'format_disk'"),
        ("", {}, "unknown tool ''"),
        ("list_todos", "[1]", "JSON object"),
        ("list_todos", "null", "JSON object"),
        ("list_todos", "", "JSON object"),
        ("add_todo", '{"title": "x"', "JSON object"),
        ("add_todo", '{"title": NaN}', "JSON object"),
        ("add_todo", '{"title": 1e999}', "JSON object"),
        ("add_todo", "[" * 10_000, "JSON object"),
    ],
)
def test_a_failing_tool_is_no_failing_run(
    run: Run, name: str, arguments: dict[str, object] | str, complaint: str
) -> None:
    messages: list[Message] = []
    events = run([answer(Call(name, arguments)), answer("I see.")], messages)
    (result,) = only(events, "tool_result")
    assert result["is_error"] is True
    assert complaint in str(result["output"])
    assert types(events)[-1] == "done"
    json.dumps(events, allow_nan=False)
    assert messages[1]["content"] == result["output"]


def test_a_name_that_the_api_refuses_is_mended_in_the_messages_only(run: Run) -> None:
    messages: list[Message] = []
    events = run([answer(Call("no such tool!", {})), answer("ok")], messages)
    assert only(events, "tool_start")[0]["name"] == "no such tool!"
    assert '"name": "no_such_tool_"' in json.dumps(messages)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(cut_in_event(answer("合成")), id="cut in mid-event"),
        pytest.param(cut_in_character(answer("合成")), id="cut in mid-character"),
        pytest.param(cut_at(answer("合成"), 0), id="cut before the first byte"),
        pytest.param(cut_at(answer("合成"), 0, reset=True), id="reset before the first byte"),
        pytest.param(unfinished(answer("合成")), id="a clean end before the finish reason"),
        pytest.param(
            replace(unfinished(answer("合成")), sized=False), id="a cut that looks like an end"
        ),
        pytest.param(malformed(answer("合成")), id="no JSON"),
        *(
            pytest.param(malformed(answer("合成"), data=event(data).data), id=f"data: {data}")
            for data in (
                *(None, 3, "x", [], {"choices": "x"}, {"choices": [{"delta": "x"}]}),
                {"choices": [{"delta": {"content": 3}}]},
                {"choices": [{"delta": {"tool_calls": [{"index": None}]}}]},
                {"choices": [{"delta": {"tool_calls": {"index": 0}}}]},
            )
        ),
        pytest.param(malformed(answer("合成"), data=b"data: \xff\n\n"), id="no UTF-8"),
        pytest.param(broken_off(answer("合成"), "overloaded"), id="an error in the stream"),
        pytest.param(answer("合成", finish_reason="length"), id="cut at the length limit"),
        pytest.param(answer("合成", finish_reason="content_filter"), id="filtered"),
        pytest.param(answer("合成", finish_reason="tool_calls"), id="calls promised, none came"),
        pytest.param(answer("合成", finish_reason="whatever"), id="a reason nobody knows"),
        *(pytest.param(refused(code, "no"), id=f"status {code}") for code in (400, 401, 429, 500)),
    ],
)
def test_a_failed_model_call_ends_the_run_with_one_error(run: Run, broken: Answer) -> None:
    messages: list[Message] = [{"role": "user", "content": "hello"}]
    events = run([answer(Call("list_todos", {})), broken], messages)
    assert types(events).count("error") == 1
    assert types(events)[-1] == "error"
    assert "done" not in types(events)
    assert events[-1]["message"]
    assert events[-1]["reason"] == "model_call_failed"
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]


def test_the_words_of_a_failing_server_are_bounded(run: Run) -> None:
    (_, error) = run([refused(400, "x" * 1_000_000)])
    assert len(str(error["message"])) <= 2_000


def test_the_round_limit_is_an_error(run: Run) -> None:
    events = run([answer(Call("list_todos", {}))] * 20)
    assert [each["iteration"] for each in only(events, "iteration_start")] == list(range(1, 13))
    assert len(only(events, "tool_result")) == 12
    assert (events[-1]["type"], events[-1]["reason"]) == ("error", "round_limit")
    assert "12" in str(events[-1]["message"])


def test_halves_of_a_character_in_two_chunks_become_one(run: Run) -> None:
    halves = [
        rb'{"content": "a\ud83d"}',
        rb'{"content": "\ude00b\udc00"}',
        rb'{"content": "\ud83d"}',
    ]
    good = answer("")
    data = b"".join(b'data: {"choices": [{"delta": %b}]}\n\n' % half for half in halves)
    events = run([malformed(good, data=data)])
    tokens = [each["content"] for each in only(events, "token")]
    assert tokens == ["a", "😀b\ufffd", "\ufffd"]
    assert types(events)[-1] == "done"


def test_the_last_usage_of_a_call_stands_and_its_absence_is_no_event(run: Run) -> None:
    counts = [{"prompt_tokens": 1}, {"prompt_tokens": 2, "completion_tokens": None}]
    chunks = [chunk(choice({"content": "a"}), usage=count) for count in counts]
    events = run([from_chunks([*chunks, chunk(choice({}, "stop"))])])
    (usage,) = only(events, "usage")
    assert {name: usage[name] for name in usage if name != "ts"} == {
        "type": "usage",
        "prompt_tokens": 2,
    }


def test_other_choices_and_a_refusal(run: Run) -> None:
    """One answer was asked for; a refusal is text for the reader."""
    chunks = [
        chunk(choice({"content": "other"}, "length", index=1), choice({"refusal": "I will not."})),
        chunk(choice({}, "stop")),
    ]
    events = run([from_chunks(chunks)])
    assert [each["content"] for each in only(events, "token")] == ["I will not."]
    assert types(events)[-1] == "done"


def test_nothing_is_printed(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    run([answer("x", Call("list_todos", {})), cut_in_event(answer("合成"))])
    assert capfd.readouterr() == ("", "")


def test_an_answer_that_outgrows_its_bounds_is_an_error(run: Run) -> None:
    call = chunk(choice({"tool_calls": [{"index": n, "function": {}} for n in range(200)]}))
    assert "128 tool calls" in str(run([from_chunks([call])])[-1]["message"])
    long = chunk(choice({"content": "x" * 1_000_000}))
    held = from_chunks([long] * 5)
    events = run([replace(held, steps=(*held.steps[:5], Hold()))])
    assert "4000000 characters" in str(events[-1]["message"])
