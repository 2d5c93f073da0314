"""What is missing for *done* is named for every status, and nothing for *done*."""

from __future__ import annotations

import pytest

from doneness.machine import Producer, Progress, acceptance
from doneness.machine.evidence import TEXTS, Lack, Missing, missing
from doneness.spec.vocabulary import LABELS


def lacks(*kinds: tuple[str, dict[str, object]], closed: bool = False) -> list[str]:
    producer, progress = Producer("r"), Progress("r")
    for kind, data in kinds:
        progress.feed(producer.emit(kind, **data))
    if closed:
        progress.close_transport()
    return [f"{lack.lack} {lack.subject}".strip() for lack in missing(progress)]


def ended(outcome: str, text: str | None = None) -> tuple[str, dict[str, object]]:
    return "run.ended", {"outcome": outcome, "final_text": text}


CALL: dict[str, object] = {"call_id": "c"}
BAD = ("model.unresolved", {"response_id": None, "reason": "no"})
LAST = ["owner_conclusion", "acceptance"]


def test_of_a_live_run_everything_up_to_the_check() -> None:
    assert lacks() == LAST
    assert lacks(closed=True) == ["open_transport", *LAST]
    assert lacks(("tool.requested", CALL)) == ["call_result c", *LAST]
    assert lacks(("tool.requested", CALL), ("tool.failed", CALL)) == LAST
    assert lacks(BAD) == ["good_response", *LAST]
    assert lacks(BAD, ("model.completed", {"response_id": "m"})) == LAST


def test_where_it_takes_a_new_run_nothing_else_is_asked_for() -> None:
    assert lacks(("approval.wait", {})) == ["decision"]
    assert lacks(("approval.wait", {}), closed=True) == ["decision"]
    assert lacks(("cancel.requested", {})) == ["new_run_after_cancel"]
    assert lacks(ended("paused")) == ["decision"]
    for outcome in ("cancelled", "failed", "incomplete"):
        assert lacks(ended(outcome)) == [f"new_run_after_end {outcome}"]
    assert lacks(("nonsense", {}), ended("failed")) == ["new_run_after_issues unknown_event"]


@pytest.mark.parametrize(("ok", "lack"), [(True, []), (False, ["new_run_after_rejection"])])
def test_after_a_success_the_check(ok: bool, lack: list[str]) -> None:
    assert lacks(ended("succeeded", "x")) == ["acceptance"]
    progress, producer = Progress("r"), Producer("r")
    progress.feed(producer.emit("run.ended", outcome="succeeded", final_text="x"))
    verdict = acceptance(progress, expected="x")
    progress.feed(producer.emit("app.checked", **{**verdict, "ok": ok}))
    assert [str(item.lack) for item in missing(progress)] == lack
    assert bool(missing(progress)) == (progress.status != "done")


def test_each_lack_has_a_text_in_each_language() -> None:
    for language in LABELS:
        texts = [Missing(lack, "{c}").text(language) for lack in Lack]  # type: ignore[arg-type]
        assert len(set(texts)) >= len(Lack) - 1
        assert set(TEXTS[language]) == set(Lack)
    assert "{c}" in Missing(Lack.CALL_RESULT, "{c}").text("en")
