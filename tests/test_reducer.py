"""What the contract says of the reducer, one statement a test, expected values by hand."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from doneness.machine import Producer, Progress, acceptance
from doneness.machine.acceptance import NoSuccessError, digest_of
from doneness.spec.vocabulary import LABELS, Issue, Kind, Outcome, Status

RUN = "r"


def event(seq: int, kind: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An envelope of the run."""
    return {"run": RUN, "id": f"{RUN}:{seq}", "seq": seq, "kind": kind, "data": data, **changes}


def fed(*events: object) -> Progress:
    """A reducer after some events; None is EOF."""
    progress = Progress(RUN)
    for one in events:
        if one is None:
            progress.close_transport()
        else:
            progress.feed(one)
    return progress


TEXT = event(1, "text.delta", {"text": "x"})


def test_a_malformed_envelope_of_another_run_is_malformed() -> None:
    """§3 step 2: judged at step 1, whatever run it names."""
    progress = fed({**TEXT, "run": "other", "more": 1})
    assert (progress.issues, progress.foreign) == ([Issue.BAD_ENVELOPE], 0)


def test_not_json_does_not_remember_the_id() -> None:
    """§3 step 3: the id may be used by a good event afterwards."""
    progress = fed(event(1, "text.delta", {"text": float("nan")}), TEXT)
    assert progress.issues == [Issue.NOT_JSON]
    assert (progress.text, progress.last_seq) == ("x", 1)


@pytest.mark.parametrize(("first", "second"), [(1, 1.0), (1, True), (0, False), (0.0, -0.0)])
def test_equal_to_python_is_not_the_same_content(first: object, second: object) -> None:
    """§3 step 4: 1, 1.0 and true are different content."""
    progress = fed(event(1, "other", {"n": first}), event(1, "other", {"n": second}))
    assert progress.issues == [Issue.UNKNOWN_EVENT, Issue.ID_CONFLICT]


def test_the_order_of_keys_is_no_content() -> None:
    """§3 step 4: the very same content, written differently."""
    backwards = dict(reversed(TEXT.items()))
    assert fed(TEXT, backwards).duplicates == 1


def test_a_later_change_of_the_object_changes_nothing() -> None:
    """§3 step 4: what was fed is remembered as it was then."""
    for make in (lambda: event(1, "text.delta", {"text": "x"}), lambda: event(1, "o", {"a": []})):
        mine, again = make(), make()
        progress = fed(mine)
        mine["data"].clear()
        progress.feed(again)
        assert (progress.duplicates, Issue.ID_CONFLICT in progress.issues) == (1, False)


def test_a_conflict_does_not_count_as_the_next_event() -> None:
    """§3 step 4 refuses: no number is used up, nothing is applied."""
    progress = fed(TEXT, {**TEXT, "seq": 2}, event(2, "text.delta", {"text": "y"}))
    assert progress.issues == [Issue.ID_CONFLICT]
    assert (progress.text, progress.last_seq) == ("xy", 2)


def test_an_event_behind_a_gap_still_applies() -> None:
    """§3 step 5 does not stop; the highest seq becomes the last."""
    progress = fed(
        TEXT, event(5, "text.delta", {"text": "y"}), event(3, "text.delta", {"text": "z"})
    )
    assert progress.issues == [Issue.SEQUENCE_GAP_OR_REORDER]
    assert (progress.text, progress.last_seq) == ("xyz", 5)


def test_one_event_can_leave_two_issues() -> None:
    """Step 5 records, and a later step refuses."""
    progress = fed(event(2, "other", {}))
    assert progress.issues == [Issue.SEQUENCE_GAP_OR_REORDER, Issue.UNKNOWN_EVENT]


def test_a_duplicate_after_eof_is_only_a_duplicate() -> None:
    """Step 4 comes before step 6."""
    progress = fed(TEXT, None, TEXT)
    assert (progress.issues, progress.duplicates) == ([], 1)


def test_after_the_end_a_check_is_judged_as_a_check() -> None:
    """§3 step 7: anything but app.checked."""
    failed = event(1, "run.ended", {"outcome": "failed", "final_text": None})
    check = event(2, "app.checked", {"digest": digest_of("F"), "ok": True})
    assert fed(failed, check).issues == [Issue.BAD_PAYLOAD_OR_TRANSITION]
    assert fed(failed, event(2, "other", {})).issues == [Issue.EVENT_AFTER_TERMINAL]


def test_a_refused_event_has_no_half_effects() -> None:
    """A contradictory success leaves terminal, text and waiting as they were."""
    success = event(2, "run.ended", {"outcome": "succeeded", "final_text": "F"})
    progress = fed(event(1, "approval.wait", {}), success)
    assert (progress.terminal, progress.final_text, progress.waiting) == (None, None, True)


def test_the_end_settles_waiting_and_keeps_the_cancel_request() -> None:
    """§3: waiting is true exactly when it paused; cancel_requested stays."""
    wait, cancel = event(1, "approval.wait", {}), event(2, "cancel.requested", {})
    for outcome in Outcome:
        end = event(3, "run.ended", {"outcome": str(outcome), "final_text": "F"})
        progress = fed(wait, cancel, end)
        if outcome is not Outcome.SUCCEEDED:
            assert progress.waiting == (outcome is Outcome.PAUSED)
            assert progress.final_text == "F"
        assert progress.cancel_requested


def test_waiting_is_shown_before_cancelling_and_survives_eof() -> None:
    """§3: the table's order."""
    assert (
        fed(event(1, "cancel.requested", {}), event(2, "approval.wait", {}), None).status
        == "waiting"
    )


UNRESOLVED = event(1, "model.unresolved", {"response_id": None, "reason": "incomplete"})


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("failed", Status.FAILED),
        ("incomplete", Status.INCOMPLETE),
        ("cancelled", Status.CANCELLED),
        ("paused", Status.WAITING),
    ],
)
def test_the_owner_settles_a_response_that_ended_badly(outcome: str, status: Status) -> None:
    """Unknown until the run ends; then the owner's conclusion shows as such."""
    progress = fed(UNRESOLVED)
    assert (progress.status, progress.issues) == (Status.UNKNOWN, [])
    progress.feed(event(2, "run.ended", {"outcome": outcome, "final_text": None}))
    assert (progress.status, progress.issues) == (status, [])


def test_a_success_after_a_bad_response_needs_a_later_good_one() -> None:
    """Contradictory, unless a later response completed."""
    success = {"outcome": "succeeded", "final_text": "F"}
    assert fed(UNRESOLVED, event(2, "run.ended", success)).issues == [
        Issue.BAD_PAYLOAD_OR_TRANSITION
    ]
    completed = event(2, "model.completed", {"response_id": "r2"})
    progress = fed(UNRESOLVED, completed)
    assert (progress.status, progress.recovered) == (Status.UNKNOWN, True)
    progress.feed(event(3, "run.ended", success))
    assert (progress.status, progress.issues) == (Status.CHECKING, [])


def test_the_labels_stand_for_every_status_in_both_languages() -> None:
    """One label a status; the language is chosen when the reducer is made."""
    assert {len(labels) for labels in LABELS.values()} == {len(Status)}
    assert Progress(RUN, language="en").message == "In progress, not finished"
    assert Progress(RUN).message == "正在处理，尚未完成"


@pytest.mark.parametrize(
    ("run", "error"), [(1, TypeError), ("", ValueError), ("\ud800", ValueError)]
)
def test_a_bad_run_is_refused_when_the_reducer_is_made(run: Any, error: type[Exception]) -> None:
    """The host's own mistake is an error, not a status."""
    with pytest.raises(error, match="run"):
        Progress(run)


def test_what_is_read_cannot_change_what_is_known() -> None:
    """Lists and objects are copies; names cannot be set."""
    progress = fed(event(1, "tool.requested", {"call_id": "c"}), "nonsense")
    progress.issues.clear()
    progress.tools.clear()
    assert (progress.issues, progress.tools) == ([Issue.BAD_ENVELOPE], {"c": "requested"})
    with pytest.raises(AttributeError):
        progress.status = Status.DONE  # type: ignore[misc]


NINES, DEEP, UNKNOWN = b"9" * 4301, b"[" * 100_000 + b"]" * 100_000, Issue.UNKNOWN_EVENT


@pytest.mark.parametrize(
    ("line", "issue"),
    [
        (b"", Issue.BAD_ENVELOPE),
        (b"{} {}", Issue.BAD_ENVELOPE),
        (b"\xff", Issue.BAD_ENVELOPE),
        (b"\xef\xbb\xbf{}", Issue.BAD_ENVELOPE),
        (b"NaN", Issue.BAD_ENVELOPE),
        (b'{"run":"r","id":"r:1","seq":1,"kind":"k","data":{"a":NaN}}', Issue.BAD_ENVELOPE),
        (b'{"run":"r","id":"r:1","seq":1,"kind":"k","data":{"a":1e999}}', Issue.NOT_JSON),
        (b'{"run":"r","id":"r:1","seq":1,"kind":"k","data":{"a":"\\ud800"}}', Issue.NOT_JSON),
        (b'{"run":"r","id":"r:1","seq":1,"kind":"k","data":{"a":%s}}' % NINES, Issue.NOT_JSON),
        (b'{"run":"r","id":"r:1","seq":1,"kind":"k","data":{"a":%s}}' % NINES[1:], UNKNOWN),
        (b'{"run":"r","id":"r:1","seq":%s,"kind":"k","data":{}}' % NINES, Issue.NOT_JSON),
        (b'{"run":"r","id":"r:1","seq":1.0,"kind":"k","data":{}}', Issue.BAD_ENVELOPE),
        (b'{"run":"r","id":"r:1","seq":1,"kind":"k","data":{"a":%s}}' % DEEP, UNKNOWN),
    ],
)
def test_bytes_are_judged_like_objects(line: bytes, issue: Issue) -> None:
    """What is not one JSON value is no envelope; the rest is judged by its content."""
    progress = Progress(RUN)
    progress.feed_json(line)
    assert progress.issues == [issue]


@pytest.mark.parametrize("line", [None, 1, "text", [], object()])
def test_feed_json_takes_bytes_only_and_never_raises(line: Any) -> None:
    """Anything else is no envelope."""
    progress = Progress(RUN)
    progress.feed_json(line)
    assert progress.issues == [Issue.BAD_ENVELOPE]


def test_ids_of_any_form_are_remembered() -> None:
    """The short way for a producer's ids changes nothing that can be seen."""
    ids = random.Random(1).sample(
        [f"r:{n}" for n in range(1, 40)] + [f"x{n}" for n in range(40)], 60
    )
    progress = Progress(RUN)
    for seq, id_ in enumerate(ids, 1):
        progress.feed(event(seq, "text.delta", {"text": f"{seq},"}, id=id_))
    assert progress.text == "".join(f"{seq}," for seq in range(1, 61))
    for seq, id_ in enumerate(ids, 1):
        progress.feed(event(seq, "text.delta", {"text": f"{seq},"}, id=id_))
    assert (progress.duplicates, progress.issues) == (60, [])
    progress.feed(event(61, "text.delta", {"text": "?"}, id=ids[30]))
    assert progress.issues == [Issue.ID_CONFLICT]


def test_a_producer_numbers_what_it_emits() -> None:
    """§4: id is run:seq, seq counts from 1."""
    producer = Producer("r")
    first, second = producer.emit("text.delta", text="a"), producer.emit(Kind.APPROVAL_WAIT)
    assert first == {"run": "r", "id": "r:1", "seq": 1, "kind": "text.delta", "data": {"text": "a"}}
    assert (second["id"], second["data"], producer.last_seq) == ("r:2", {}, 2)
    assert json.loads(json.dumps(second))["kind"] == "approval.wait"


KNOWN = {
    "exhausted": True,
    "is_complete": True,
    "interruptions": (),
    "cancel_requested": False,
    "runtime_failed": False,
    "final_text": "F",
}


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "succeeded"),
        ({"final_text": ""}, "succeeded"),
        ({"final_text": None}, None),
        ({"interruptions": ["call"]}, "paused"),
        ({"interruptions": ["call"], "cancel_requested": True}, "cancelled"),
        ({"cancel_requested": True}, "cancelled"),
        ({"exhausted": False, "cancel_requested": True}, None),
        ({"is_complete": False, "interruptions": ["call"]}, None),
        ({"exhausted": False, "runtime_failed": True}, "failed"),
        ({"runtime_failed": True, "cancel_requested": True}, "failed"),
    ],
)
def test_the_owner_concludes_in_the_contracts_order(
    changes: dict[str, Any], outcome: str | None
) -> None:
    """§4: failure, then exhaustion, cancel, interruptions, final text."""
    ended = Producer("r").owner_finished(**{**KNOWN, **changes})
    if outcome is None:
        assert ended is None
    else:
        assert ended is not None
        text = {**KNOWN, **changes}["final_text"] if outcome == "succeeded" else None
        assert ended["data"] == {"outcome": outcome, "final_text": text}


def test_acceptance_judges_a_success_only() -> None:
    """§4: asking without a success is an error; the example accepts exactly one text."""
    with pytest.raises(NoSuccessError, match="no success to judge"):
        acceptance(Progress(RUN))
    for text, ok in (("合成巡检：已检查 2 项", True), ("合成巡检：只有 1 项", False)):
        progress = fed(event(1, "run.ended", {"outcome": "succeeded", "final_text": text}))
        assert acceptance(progress) == {"digest": digest_of(text), "ok": ok}
    assert digest_of("合成巡检：已检查 2 项").startswith("5ad405cc35fd834b")


class Uncatchable(BaseException):
    """What `except Exception` does not hold back."""


class Interrupts:
    """An object as hostile as can be: comparing it with anything ends the program."""

    def __init__(self, like: str) -> None:
        self._hash = hash(like)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        raise Uncatchable


class InterruptingText(str):
    """The same, as text."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise Uncatchable


@pytest.mark.parametrize(
    ("changes", "issues"),
    [
        ({"seq": Interrupts("1")}, [Issue.BAD_ENVELOPE]),
        ({"seq": type("Meta", (type,), {"__eq__": Interrupts.__eq__})("Odd", (), {})}, None),
        ({"run": InterruptingText(RUN), "kind": InterruptingText("text.delta")}, []),
        ({"data": {Interrupts("text"): "x"}}, [Issue.NOT_JSON]),
        ({"data": {InterruptingText("text"): "x"}}, []),
    ],
)
def test_nothing_raises_whatever_its_comparison_raises(
    changes: dict[str, object], issues: list[Issue] | None
) -> None:
    """§3: not even what is no `Exception`."""
    progress = fed({**TEXT, **changes})
    assert progress.issues == ([Issue.BAD_ENVELOPE] if issues is None else issues)


@pytest.mark.parametrize(
    ("key", "issues"),
    [(Interrupts("run"), [Issue.BAD_ENVELOPE]), (InterruptingText("run"), [])],
)
def test_nothing_raises_whatever_the_comparison_of_a_key_raises(
    key: object, issues: list[Issue]
) -> None:
    """A key that is text counts as the text it holds."""
    members: dict[Any, object] = {name: value for name, value in TEXT.items() if name != "run"}
    assert fed({key: RUN, **members}).issues == issues


@pytest.mark.parametrize("digits", [4_300, 4_301, 4_302, 10_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_huge_seq_counts_as_bytes_as_it_does_as_an_object(digits: int, sign: str) -> None:
    """§3: a negative one is no envelope, a positive one of more than 4,300 digits no JSON."""
    event_json = json.dumps({**TEXT, "seq": 0}).replace(": 0", f": {sign}1{'0' * (digits - 1)}")
    progress = Progress(RUN)
    progress.feed_json(event_json.encode())
    as_object = fed({**TEXT, "seq": (-1 if sign else 1) * 10 ** (digits - 1)})
    assert progress.issues == as_object.issues
    expected = Issue.NOT_JSON if digits > 4_300 else Issue.SEQUENCE_GAP_OR_REORDER
    assert progress.issues == [Issue.BAD_ENVELOPE if sign else expected]
