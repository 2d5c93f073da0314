"""Loop events to envelopes to status: what each says, and what none of them may say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from doneness.machine import Producer, Progress
from doneness.machine.adapters.agent_loop import AgentLoopAdapter
from doneness.machine.agent.tracked import TrackedRun

ITERATION = {"type": "iteration_start", "ts": 0.0, "iteration": 1}
TOKEN = {"type": "token", "ts": 0.0, "content": "合成"}
USAGE = {"type": "usage", "ts": 0.0, "total_tokens": 3}
START = {"type": "tool_start", "ts": 0.0, "call_id": "c", "name": "t", "args": {}}
RETURNED = {
    "type": "tool_result",
    "ts": 0.0,
    "call_id": "c",
    "name": "t",
    "output": "",
    "is_error": False,
}
FAILED = {**RETURNED, "is_error": True}
DONE = {"type": "done", "ts": 0.0}
ERROR = {"type": "error", "ts": 0.0, "message": "no"}


def kinds(*events: Mapping[str, Any]) -> list[str]:
    adapter = AgentLoopAdapter(Producer("r"))
    return [envelope["kind"] for event in events for envelope in adapter.feed(event)]


def progress_of(*events: Mapping[str, Any]) -> Progress:
    tracked = TrackedRun("r")
    for event in events:
        tracked.feed(event)
    return tracked.progress


def test_the_table() -> None:
    assert kinds(ITERATION, TOKEN, USAGE) == ["text.delta"]
    assert kinds(START, RETURNED) == ["tool.requested", "tool.started", "tool.finished"]
    assert kinds(START, FAILED) == ["tool.requested", "tool.started", "tool.failed"]
    assert kinds(DONE) == kinds(ERROR) == ["run.ended"]


def test_the_final_text_is_that_of_the_last_round() -> None:
    second = {**ITERATION, "iteration": 2}
    progress = progress_of(ITERATION, TOKEN, START, RETURNED, second, TOKEN, TOKEN, DONE)
    assert (progress.status, progress.final_text) == ("checking", "合成合成")
    assert progress.text == "合成合成合成"


def test_an_empty_answer_is_an_answer() -> None:
    progress = progress_of(ITERATION, DONE)
    assert (progress.status, progress.final_text) == ("checking", "")


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([ERROR], "failed"),
        ([ITERATION, ERROR], "failed"),
        ([ITERATION, TOKEN, {**ERROR, "reason": "model_call_failed"}], "failed"),
        ([ITERATION, START, RETURNED, {**ERROR, "reason": "round_limit"}], "incomplete"),
        # Without a reason its place tells: only the round limit stops a loop after a tool.
        ([ITERATION, START, RETURNED, ERROR], "incomplete"),
        ([ITERATION, START, RETURNED, {**ITERATION, "iteration": 2}, ERROR], "failed"),
    ],
)
def test_how_an_error_ends_the_run(events: list[Mapping[str, Any]], status: str) -> None:
    assert progress_of(*events).status == status


@pytest.mark.parametrize(
    "strange",
    [
        {"type": "thinking", "ts": 0.0},
        {"type": "finished"},
        {},
        {"type": None},
        {"type": ["done"]},
        {"type": "token"},
        {"type": "token", "content": 3},
        {"type": "tool_start", "name": "t"},
        {**RETURNED, "is_error": "no"},
        {**RETURNED, "is_error": 0},
        {"type": "error"},
        {"type": "iteration_start", "iteration": True},
    ],
)
def test_an_unknown_or_malformed_event_blocks_success(strange: Mapping[str, Any]) -> None:
    assert kinds(strange) == ["adapter.unsupported_event"]
    progress = progress_of(ITERATION, strange, DONE)
    assert (progress.status, progress.issues) == ("unknown", ["unknown_event"])


def test_never_done_before_the_applications_check() -> None:
    tracked = TrackedRun("r")
    for event in (ITERATION, TOKEN, START, RETURNED, {**ITERATION, "iteration": 2}, DONE):
        tracked.feed(event)
        assert tracked.progress.status != "done"
    tracked.judge(ok=True)
    assert tracked.progress.status == "done"
    rejected = TrackedRun("r")
    rejected.feed(DONE)
    rejected.judge(ok=False)
    assert rejected.progress.status == "rejected"


def test_there_is_nothing_to_judge_without_a_success() -> None:
    with pytest.raises(ValueError, match="no success to judge: the run is running"):
        TrackedRun("r").judge(ok=True)


def test_a_consumer_that_stopped_early_is_never_shown_as_done() -> None:
    tracked = TrackedRun("r")
    tracked.feed(ITERATION)
    assert tracked.confirm_cancel() == []
    tracked.close()
    assert tracked.progress.status == "unknown"


def test_a_cancel_with_a_tool_still_running() -> None:
    tracked = TrackedRun("r")
    for event in (ITERATION, START):
        tracked.feed(event)
    tracked.request_cancel()
    assert tracked.progress.status == "cancelling"
    tracked.confirm_cancel()
    assert (tracked.progress.status, tracked.progress.tools) == ("cancelled", {"c": "running"})


def test_a_run_that_waits_for_an_approval_and_is_paused() -> None:
    tracked = TrackedRun("r")
    for event in (ITERATION, START):
        tracked.feed(event)
    kinds = [envelope["kind"] for envelope in tracked.wait_for_approval()]
    assert (kinds, tracked.progress.status, tracked.progress.terminal) == (
        ["approval.wait"],
        "waiting",
        None,
    )
    tracked.pause()
    tracked.close()
    assert (tracked.progress.status, tracked.progress.terminal) == ("waiting", "paused")
    assert tracked.progress.issues == []


def test_a_late_answer_after_a_cancel_request_is_a_cancelled_run() -> None:
    tracked = TrackedRun("r")
    tracked.request_cancel()
    tracked.feed(DONE)
    assert (tracked.progress.status, tracked.progress.issues) == ("cancelled", [])


def test_events_after_the_end_are_a_contradiction() -> None:
    assert progress_of(ITERATION, DONE, TOKEN).issues == ["event_after_terminal"]
    assert progress_of(ITERATION, ERROR, DONE).status == "unknown"
