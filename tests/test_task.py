"""Several runs of one task: how one gives way to the next, and what people are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Producer, acceptance
from doneness.machine.task import Task, TaskIssue
from doneness.spec.vocabulary import LABELS


def end(run: str, outcome: str, final_text: str | None = None, after: int = 0) -> dict[str, Any]:
    producer = Producer(run)
    for _ in range(after):
        producer.emit("text.delta", text="")
    return dict(producer.emit("run.ended", outcome=outcome, final_text=final_text))


def task_after(outcome: str | None, *, closed: bool = True) -> Task:
    task = Task("task", "a", language="en")
    if outcome is not None:
        task.feed(end("a", outcome, "x" if outcome == "succeeded" else None))
    if closed:
        task.close_transport()
    return task


def test_one_run_is_the_task() -> None:
    task = Task("task", "a", language="en")
    assert (task.task, task.status, task.message) == ("task", "running", LABELS["en"][task.status])
    task.feed(end("a", "succeeded", "x"))
    assert (task.status, task.final_text) == ("checking", "x")
    task.feed(
        {
            "run": "a",
            "id": "check",
            "seq": 2,
            "kind": "app.checked",
            "data": acceptance(task.current, expected="x"),
        }
    )
    assert (task.status, task.missing) == ("done", ())


def test_a_pause_is_resumed_by_another_run() -> None:
    task = task_after("paused")
    assert task.status == "waiting"
    task.begin("b", "resume")
    assert (task.status, task.issues) == ("running", [])
    task.feed(end("b", "succeeded", "y"))
    assert (task.status, task.final_text) == ("checking", "y")
    assert [leg.how for leg in task.legs] == ["start", "resume"]


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "incomplete", None])
def test_a_bad_end_or_a_cut_is_retried(outcome: str | None) -> None:
    task = task_after(outcome)
    task.begin("b", "retry")
    task.feed(end("b", "succeeded", "y"))
    assert (task.status, task.issues) == ("checking", [])


def test_a_run_whose_approval_was_lost_with_its_stream_is_retried() -> None:
    task = Task("task", "a")
    task.feed(Producer("a").emit("approval.wait"))
    task.close_transport()
    assert task.status == "waiting"
    task.begin("b", "retry")
    assert (task.status, task.issues) == ("running", [])


def test_a_run_that_contradicts_itself_is_retried_once_it_is_given_up() -> None:
    for closed in (True, False):
        task = Task("task", "a")
        task.feed(end("a", "succeeded", "x"))
        task.feed(end("a", "failed", after=1))
        if closed:
            task.close_transport()
        task.begin("b", "retry")
        assert task.issues == ([] if closed else [TaskIssue.RETRIED_BEFORE_END])


@pytest.mark.parametrize(
    ("how", "prepare", "issue"),
    [
        ("resume", lambda: task_after(None, closed=False), TaskIssue.RESUMED_WITHOUT_PAUSE),
        ("resume", lambda: task_after("failed"), TaskIssue.RESUMED_WITHOUT_PAUSE),
        ("resume", lambda: task_after("succeeded"), TaskIssue.RESUMED_WITHOUT_PAUSE),
        ("retry", lambda: task_after(None, closed=False), TaskIssue.RETRIED_BEFORE_END),
        ("retry", lambda: task_after("paused"), TaskIssue.RETRIED_BEFORE_END),
        ("retry", lambda: task_after("succeeded"), TaskIssue.RETRIED_BEFORE_END),
    ],
)
def test_two_runs_that_may_act_for_one_task_are_an_issue_for_good(
    how: Literal["resume", "retry"], prepare: Callable[[], Task], issue: TaskIssue
) -> None:
    task = prepare()
    task.begin("b", how)
    task.feed(end("b", "succeeded", "y"))
    task.feed(end("a", "failed"))
    assert (task.status, task.issues[0]) == ("unknown", issue)
    assert [str(lack.lack) for lack in task.missing] == ["new_task"]


def test_one_saved_state_is_not_resumed_twice() -> None:
    task = task_after("paused")
    task.begin("b", "resume")
    task.begin("c", "resume")
    task.feed(end("c", "succeeded", "y"))
    assert (task.status, task.issues) == ("unknown", [TaskIssue.RESUMED_WITHOUT_PAUSE])


def test_what_stands_on_a_pause_falls_with_it() -> None:
    """A late event of the paused run contradicts the pause, and so what was resumed from it."""
    task = task_after("paused", closed=False)
    task.begin("b", "resume")
    task.feed(end("b", "succeeded", "y"))
    assert task.status == "checking"
    task.feed(end("a", "failed", after=1))
    assert (task.status, task.issues) == ("unknown", [TaskIssue.PAUSE_CONTRADICTED])


def test_a_late_event_of_a_run_that_was_given_up_leaves_the_retry_alone() -> None:
    task = task_after(None)
    task.begin("b", "retry")
    task.feed(end("b", "succeeded", "y"))
    task.feed(end("a", "succeeded", "z"))
    assert (task.status, task.final_text) == ("checking", "y")
    assert task.legs[0].progress.status == "unknown"


def test_the_id_of_a_run_is_used_once() -> None:
    task = task_after("paused")
    assert task.begin("a", "resume") is task.current
    assert (task.status, task.issues) == ("unknown", [TaskIssue.RUN_REUSED])


def test_calls_that_a_retry_does_not_undo_stay_visible() -> None:
    task = Task("task", "a")
    producer = Producer("a")
    for kind, data in (
        ("tool.requested", {"call_id": "c"}),
        ("tool.started", {"call_id": "c"}),
        ("run.ended", {"outcome": "cancelled", "final_text": None}),
    ):
        task.feed(producer.emit(kind, **data))
    assert task.unsettled == ()
    task.begin("b", "retry")
    assert task.unsettled == (("a", "c"),)


def test_envelopes_go_to_the_run_that_they_name() -> None:
    task = task_after("paused")
    task.begin("b", "resume")
    task.feed(end("elsewhere", "failed"))
    assert (task.status, task.foreign) == ("running", 1)
    task.feed("no envelope")
    assert (task.status, task.current.issues) == ("unknown", ["bad_envelope"])


def test_each_of_several_runs_has_its_own_events() -> None:
    task = task_after("failed")
    task.begin("b", "retry")
    task.feed(end("b", "failed"))
    task.begin("c", "retry")
    task.feed(end("c", "succeeded", "y"))
    task.feed(end("b", "cancelled", after=1))
    assert [str(leg.progress.status) for leg in task.legs] == ["failed", "unknown", "checking"]
    assert (task.status, task.foreign) == ("checking", 0)


def test_what_is_no_id_is_refused() -> None:
    for bad in ("", "\ud800"):
        with pytest.raises(ValueError, match="run"):
            Task(bad, "a")
        with pytest.raises(ValueError, match="run"):
            Task("task", "a").begin(bad, "retry")
    with pytest.raises(ValueError, match="how: expected resume or retry"):
        Task("task", "a").begin("b", "follow")  # type: ignore[arg-type] # on purpose


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.sampled_from("abc"), st.sampled_from(["resume", "retry"])),
        st.tuples(st.just("close"), st.sampled_from("abcd"), st.just("")),
        st.tuples(
            st.just("end"),
            st.sampled_from("abcd"),
            st.sampled_from(["succeeded", "paused", "failed", "cancelled"]),
        ),
    ),
    max_size=12,
)


@given(MOVES)
@settings(max_examples=300, deadline=None)
def test_a_task_shows_success_only_where_its_runs_make_one_story(
    moves: list[tuple[str, str, Any]],
) -> None:
    """An issue is for good; a success is the current run's, and every pause before it holds."""
    task = Task("task", "a")
    broken = False
    for what, run, how in moves:
        match what:
            case "begin":
                task.begin(run, how)
            case "close":
                task.close_transport(run)
            case _:
                task.feed(end(run, how, "x" if how == "succeeded" else None))
        assert not (broken and task.status != "unknown")
        broken = bool(task.issues)
        if task.status == "checking":
            assert task.current.status == "checking"
            for before, leg in zip(task.legs, task.legs[1:], strict=False):
                assert before.progress.status != "checking"
                assert (leg.how == "resume") == (before.progress.terminal == "paused")
