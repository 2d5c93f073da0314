"""Generated AG-UI runs: what is whole is *checking*, and any one breach of it is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Progress
from doneness.machine.adapters.ag_ui import AGUIAdapter

Event = dict[str, Any]


def event(type_: str, **members: object) -> Event:
    return {"type": type_, **members}


def text(n: int, deltas: list[str]) -> list[Event]:
    return [
        event("TEXT_MESSAGE_START", messageId=f"m{n}", role="assistant"),
        *(event("TEXT_MESSAGE_CONTENT", messageId=f"m{n}", delta=delta) for delta in deltas),
        event("TEXT_MESSAGE_END", messageId=f"m{n}"),
    ]


def call(n: int) -> list[Event]:
    return [
        event("TOOL_CALL_START", toolCallId=f"c{n}", toolCallName="t"),
        event("TOOL_CALL_ARGS", toolCallId=f"c{n}", delta="{}"),
        event("TOOL_CALL_END", toolCallId=f"c{n}"),
        event("TOOL_CALL_RESULT", toolCallId=f"c{n}", messageId=f"r{n}", content="ok"),
    ]


def step(n: int) -> list[Event]:
    return [event("STEP_STARTED", stepName=f"s{n}"), event("STEP_FINISHED", stepName=f"s{n}")]


def reasoning(n: int) -> list[Event]:
    return [
        event("REASONING_START", messageId=f"q{n}"),
        event("REASONING_MESSAGE_START", messageId=f"q{n}", role="reasoning"),
        event("REASONING_MESSAGE_CONTENT", messageId=f"q{n}", delta="hm"),
        event("REASONING_MESSAGE_END", messageId=f"q{n}"),
        event("REASONING_END", messageId=f"q{n}"),
    ]


def subagent(n: int) -> list[Event]:
    return [
        event("SUBAGENT_STARTED", subagentRunId=f"a{n}", name="n"),
        event("SUBAGENT_FINISHED", subagentRunId=f"a{n}"),
    ]


@st.composite
def whole_runs(draw: st.DrawFn) -> list[Event]:
    """One run, its items interleaved; each item's own events keep their order."""
    makers = draw(st.lists(st.sampled_from([text, call, step, reasoning, subagent]), max_size=4))
    items = [
        maker(n, draw(st.lists(st.text(max_size=3), max_size=3))) if maker is text else maker(n)
        for n, maker in enumerate(makers)
    ]
    body: list[Event] = []
    while any(items):
        body.append(draw(st.sampled_from([item for item in items if item])).pop(0))
    started = event("RUN_STARTED", threadId="t", runId="r")
    finished = event("RUN_FINISHED", threadId="t", runId="r")
    if draw(st.booleans()):
        finished["outcome"] = {"type": "success"}
    return [started, *body, finished]


def shown(stream: Iterable[object]) -> Progress:
    adapter, progress = AGUIAdapter("run"), Progress("run")
    for value in stream:
        for envelope in adapter.feed_value(value):
            progress.feed(envelope)
    progress.close_transport()
    return progress


@given(whole_runs())
@settings(max_examples=100, deadline=None)
def test_a_whole_run_is_checking_with_its_last_message(stream: list[Event]) -> None:
    progress = shown(stream)
    started = [said["messageId"] for said in stream if said["type"] == "TEXT_MESSAGE_START"]
    deltas = [
        said["delta"]
        for said in stream
        if said["type"] == "TEXT_MESSAGE_CONTENT" and said["messageId"] == started[-1]
    ]
    assert (progress.status, progress.issues) == ("checking", [])
    assert progress.final_text == "".join(deltas)


@given(whole_runs(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_run_that_is_cut_anywhere_is_not_checking(
    stream: list[Event], data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(stream) - 1))
    assert shown(stream[:length]).status == "unknown"


@given(whole_runs(), st.data())
@settings(max_examples=200, deadline=None)
def test_a_run_with_one_event_lost_is_not_checking(
    stream: list[Event], data: st.DataObject
) -> None:
    """Pieces of content apart: they carry no number, so nobody can tell."""
    silent = ("TEXT_MESSAGE_CONTENT", "TOOL_CALL_ARGS", "REASONING_MESSAGE_CONTENT")
    places = [n for n, said in enumerate(stream) if said["type"] not in silent]
    lost = data.draw(st.sampled_from(places))
    progress = shown(stream[:lost] + stream[lost + 1 :])
    a_result = stream[lost]["type"] == "TOOL_CALL_RESULT"
    assert progress.status == ("waiting" if a_result else "unknown")


@given(whole_runs(), st.data())
@settings(max_examples=100, deadline=None)
def test_nothing_but_a_new_run_may_follow(stream: list[Event], data: st.DataObject) -> None:
    late = data.draw(st.sampled_from(stream[1:]))
    assert shown([*stream, late]).status == "unknown"
    assert shown([*stream, event("RUN_ERROR", message="late")]).status == "unknown"
    assert shown([*stream, stream[0]]).status == "checking"


@given(whole_runs(), st.data())
@settings(max_examples=100, deadline=None)
def test_an_end_of_another_run_or_without_a_known_outcome_is_no_success(
    stream: list[Event], data: st.DataObject
) -> None:
    change = data.draw(
        st.one_of(
            st.fixed_dictionaries({"runId": st.text().filter(lambda name: name != "r")}),
            st.fixed_dictionaries({"threadId": st.text().filter(lambda name: name != "t")}),
            st.fixed_dictionaries(
                {"outcome": st.fixed_dictionaries({"type": st.text()}).filter(_no_outcome)}
            ),
            st.fixed_dictionaries({"outcome": st.sampled_from([None, [], "success", 1, {}])}),
        )
    )
    assert shown([*stream[:-1], {**stream[-1], **change}]).status == "unknown"


def _no_outcome(outcome: Event) -> bool:
    return outcome["type"] not in ("success", "cancelled", "interrupt")


@given(whole_runs(), st.lists(st.text(min_size=1), min_size=1, max_size=3))
@settings(max_examples=50, deadline=None)
def test_a_success_that_names_pending_calls_is_a_wait(
    stream: list[Event], pending: list[str]
) -> None:
    outcome = {"type": "success", "pendingToolCallIds": pending}
    assert shown([*stream[:-1], {**stream[-1], "outcome": outcome}]).status == "waiting"
