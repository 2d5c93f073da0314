"""Captured streams of five formats: the status after every event was decided by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from doneness.machine import Progress, acceptance
from doneness.machine.adapters.base import Blocking, WireAdapter
from doneness.machine.adapters.capture import ADAPTERS, taken
from doneness.machine.evidence import missing
from doneness.machine.task import Task

CAPTURES = files("doneness.fixtures.captures")
EXPECTED: list[dict[str, Any]] = json.loads(
    CAPTURES.joinpath("expected.json").read_text(encoding="utf-8")
)
MODEL_FORMATS = {"openai-responses", "chat", "anthropic"}

every = pytest.mark.parametrize("case", EXPECTED, ids=[case["file"] for case in EXPECTED])


class Shown:
    """What a host shows of a capture: a reducer for each run, and the status after each event."""

    def __init__(self, case: dict[str, Any], chunks: list[bytes]) -> None:
        self.adapter: WireAdapter = ADAPTERS[case["format"]]("run")
        self.runs = [Progress("run")]
        self.steps: list[str] = []
        self.blocked: list[str] = []
        self.unresolved: list[str] = []
        for event in taken(chunks, self.adapter):
            for begins in self.adapter.runs[len(self.runs) :]:
                self.runs[-1].close_transport()
                self.runs.append(Progress(begins.run))
            for envelope in event.envelopes:
                self.runs[-1].feed(envelope)
                self.note(envelope["kind"], envelope["data"])
            self.steps.append(str(self.runs[-1].status))
        self.runs[-1].close_transport()

    def note(self, kind: str, data: dict[str, object]) -> None:
        if kind == "model.unresolved":
            self.unresolved.append(f"{data['response_id']} {data['reason']}")
        elif kind in set(Blocking):
            self.blocked.append(f"{data['type']}: {data['reason']}")

    def facts(self) -> dict[str, Any]:
        last = self.runs[-1]
        return {
            "text": last.text,
            "tools": dict(last.tools),
            "issues": [str(issue) for issue in last.issues],
            "model_responses": list(last.model_responses),
            "final_text": last.final_text,
            "duplicates": last.duplicates,
            "foreign": last.foreign,
            "blocked": self.blocked,
            "unresolved": self.unresolved,
            "missing": [str(lack.lack) for lack in missing(last)],
        }


def body(case: dict[str, Any]) -> bytes:
    return CAPTURES.joinpath(case["file"]).read_bytes()


def cuts(whole: bytes) -> Iterator[list[bytes]]:
    yield [whole]
    yield [whole[place : place + 1] for place in range(len(whole))]
    yield [whole[place : place + 7] for place in range(0, len(whole), 7)]


@every
def test_the_status_after_each_event_and_at_the_end(case: dict[str, Any]) -> None:
    shown = Shown(case, [body(case)])
    assert shown.steps == case["steps"]
    assert [str(run.status) for run in shown.runs] == case["final"]
    facts = shown.facts()
    expected = {name: value for name, value in case.items() if name in facts}
    assert {name: facts[name] for name in expected} == expected


@every
def test_the_chunks_are_invisible(case: dict[str, Any]) -> None:
    first, *others = [Shown(case, chunks) for chunks in cuts(body(case))]
    for other in others:
        assert (other.steps, other.facts()) == (first.steps, first.facts())


@every
def test_no_capture_is_done_without_the_application(case: dict[str, Any]) -> None:
    """Cut anywhere, it is never done; and only an owner's word makes it *checking*."""
    whole = body(case)
    for length in range(0, len(whole) + 1, max(1, len(whole) // 12)):
        shown = Shown(case, [whole[:length]])
        assert "done" not in shown.steps
        if case["format"] in MODEL_FORMATS:
            assert {*shown.steps, str(shown.runs[-1].status)} <= {"running", "unknown", "waiting"}
        if not {"checking"} & {*case["steps"], *case["final"]}:
            assert "checking" not in shown.steps


def test_the_application_can_accept_what_the_owner_finished() -> None:
    case = next(case for case in EXPECTED if case["file"] == "ag-ui.text.sse")
    shown = Shown({**case}, [body(case)])
    progress = Progress("run")
    adapter = ADAPTERS["ag-ui"]("run")
    for event in taken([body(case)], adapter):
        for envelope in event.envelopes:
            progress.feed(envelope)
    verdict = acceptance(progress, expected=case["final_text"])
    progress.feed(adapter.producer.emit("app.checked", **verdict))
    assert (shown.runs[-1].status, progress.status) == ("checking", "done")


@pytest.mark.parametrize("format_", sorted(MODEL_FORMATS))
def test_the_owner_concludes_what_a_model_finished(format_: str) -> None:
    """A model's stream, then the owner's word through the same producer: a success to check."""
    case = next(case for case in EXPECTED if case["file"] == f"{format_}.text.sse")
    adapter = ADAPTERS[format_]("run")
    progress = Progress("run")
    for event in taken([body(case)], adapter):
        for envelope in event.envelopes:
            progress.feed(envelope)
    assert progress.status == "running"
    conclusion = adapter.producer.owner_finished(
        exhausted=True,
        is_complete=True,
        interruptions=(),
        cancel_requested=False,
        runtime_failed=False,
        final_text=progress.text,
    )
    progress.feed(conclusion)
    assert (progress.status, progress.final_text) == ("checking", "合成巡检")


@pytest.mark.parametrize(
    ("name", "status"),
    [("unclassified", "unknown"), ("failed", "unknown"), ("recovered", "checking")],
)
def test_what_blocked_success_still_does_when_the_owner_reports_one(name: str, status: str) -> None:
    """After an event nobody classified, or a failed response, a success contradicts itself."""
    case = next(case for case in EXPECTED if case["file"] == f"openai-responses.{name}.sse")
    adapter = ADAPTERS["openai-responses"]("run")
    progress = Progress("run")
    for event in taken([body(case)], adapter):
        for envelope in event.envelopes:
            progress.feed(envelope)
    progress.feed(adapter.producer.emit("run.ended", outcome="succeeded", final_text="ok"))
    assert progress.status == status


def test_every_file_has_its_expectation() -> None:
    there = {entry.name for entry in CAPTURES.iterdir()} - {"__pycache__"}
    assert there - {"README.md"} == {case["file"] for case in EXPECTED} | {"expected.json"}
    assert {case["format"] for case in EXPECTED} == set(ADAPTERS)


def test_the_recordings_of_one_task_are_tied_together() -> None:
    """Where a capture holds several runs of a task, its expectation says what people are shown."""
    tied = [case for case in EXPECTED if "task" in case]
    assert tied
    for case in tied:
        adapter = ADAPTERS[case["format"]]("run")
        task = Task("task", "run")
        begun = 1
        for event in taken([body(case)], adapter):
            for begins in adapter.runs[begun:]:
                begun += 1
                assert begins.how in ("resume", "retry")
                task.close_transport()
                task.begin(begins.run, begins.how)  # type: ignore[arg-type] # as asserted
            for envelope in event.envelopes:
                task.feed(envelope)
        task.close_transport()
        assert (str(task.status), task.issues) == (case["task"], [])
