"""Any order within the bound is put right; what is lost is seen, and never as done."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Producer, Progress
from doneness.machine.transport import Receiver, Resequencer

GAP = "sequence_gap_or_reorder"

payloads = st.one_of(
    st.tuples(st.just("text.delta"), st.fixed_dictionaries({"text": st.text(max_size=3)})),
    st.tuples(
        st.sampled_from(["tool.requested", "tool.started", "tool.finished", "tool.failed"]),
        st.fixed_dictionaries({"call_id": st.sampled_from(["c1", "c2"])}),
    ),
    st.tuples(st.just("model.completed"), st.just({"response_id": "r"})),
    st.tuples(st.sampled_from(["approval.wait", "cancel.requested", "no.such"]), st.just({})),
    st.tuples(
        st.just("run.ended"),
        st.fixed_dictionaries(
            {"outcome": st.sampled_from(["succeeded", "paused", "failed"]), "final_text": st.text()}
        ),
    ),
)


def numbered(log: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    producer = Producer("run")
    return [dict(producer.emit(kind, **data)) for kind, data in log]


@settings(deadline=None)
@given(st.lists(payloads, min_size=1, max_size=12).map(numbered), st.data())
def test_any_order_with_repeats_gives_the_same_run(runs: Any, log: Any, data: Any) -> None:
    repeated = data.draw(st.lists(st.sampled_from(log), max_size=5))
    arriving = data.draw(st.permutations(log + repeated))
    receiver = Receiver(Progress("run"))
    for event in arriving:
        receiver.feed(event)
    assert receiver.held == 0
    receiver.close_transport()
    expected = runs.fed(log)
    expected.close_transport()
    assert runs.seen(receiver.progress) == runs.seen(expected)
    assert receiver.progress.duplicates == len(repeated)


@settings(deadline=None)
@given(st.data())
def test_what_is_lost_is_never_done(runs: Any, data: Any) -> None:
    """Whatever subset is lost, in whatever order the rest arrives, at every moment."""
    log = runs.done()
    lost = data.draw(st.sets(st.integers(0, len(log) - 1), min_size=1))
    rest = [event for place, event in enumerate(log) if place not in lost]
    bound = data.draw(st.integers(0, 4))
    receiver = Receiver(Progress("run"), resequencer=Resequencer("run", held_max=bound))
    for event in data.draw(st.permutations(rest)):
        receiver.feed(event)
        assert receiver.status != "done"
    receiver.close_transport()
    assert receiver.status == receiver.progress.status != "done"
    if max(lost) < len(log) - 1:  # more than the end of it
        assert receiver.status == "unknown"
    if rest and min(lost) + 1 < max(event["seq"] for event in rest):
        assert GAP in receiver.progress.issues


events = st.one_of(
    st.builds(
        lambda run, id_, seq, text: {
            "run": run,
            "id": id_,
            "seq": seq,
            "kind": "text.delta",
            "data": {"text": text},
        },
        st.sampled_from(["run", "run", "run", "another"]),
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.integers(0, 7),
        st.sampled_from(["x", "y", float("nan"), "\ud800"]),
    ),
    st.sampled_from([None, b"{}", {}, {"run": "run"}]),
)


@settings(deadline=None)
@given(st.lists(events, max_size=20), st.integers(0, 5))
def test_everything_is_handed_on_once_and_the_next_number_is_the_reducer_s(
    arriving: list[object], held_max: int
) -> None:
    """Also conflicts, foreign and malformed events, and numbers used twice."""
    resequencer, progress = Resequencer("run", held_max=held_max), Progress("run")
    handed_on: list[object] = []
    for event in arriving:
        for one in resequencer.take(event):
            handed_on.append(one)
            progress.feed(one)
        assert resequencer.last_seq == progress.last_seq
        assert resequencer.held <= held_max
    handed_on += resequencer.end()
    assert resequencer.held == resequencer.held_bytes == 0
    assert Counter(map(repr, handed_on)) == Counter(map(repr, arriving))


def test_a_conflict_ahead_waits_and_is_then_refused(runs: Any) -> None:
    log = runs.done()
    conflict = {**log[0], "seq": 3}
    resequencer = Resequencer("run")
    assert resequencer.take(log[0]) == [log[0]]
    assert resequencer.take(conflict) == []
    assert resequencer.take(log[1]) == [log[1], conflict]
    assert resequencer.last_seq == 2
    assert resequencer.take(log[2]) == [log[2]]


def test_more_after_the_end_of_a_run_is_not_shown_as_done(runs: Any) -> None:
    log = runs.done()
    receiver = Receiver(Progress("run"))
    for event in log:
        receiver.feed(event)
    assert receiver.status == "done"
    receiver.feed({**log[0], "id": "late", "seq": len(log) + 2})
    assert receiver.progress.status == "done"
    assert receiver.status == "unknown"
    receiver.close_transport()
    assert receiver.progress.issues == [GAP, "event_after_terminal"]


def test_the_bounds_hand_on_in_order_and_the_gap_is_seen(runs: Any) -> None:
    log = runs.done()
    by_count = Resequencer("run", held_max=2)
    assert by_count.take(log[3]) == by_count.take(log[2]) == []
    assert by_count.take(log[4]) == log[2:5]
    assert by_count.take(log[0]) == [log[0]]  # late for good
    assert by_count.take(log[5]) == [log[5]]
    by_bytes = Resequencer("run", held_bytes_max=10)
    assert by_bytes.take(log[1]) == [log[1]]
    assert runs.fed([log[1]]).issues[0] == GAP


def test_nothing_waits_after_the_end(runs: Any) -> None:
    log = runs.done()
    resequencer = Resequencer("run")
    assert resequencer.take(log[1]) == []
    assert resequencer.end() == [log[1]]
    assert resequencer.take(log[4]) == [log[4]]
    assert resequencer.end() == []


def test_what_waits_is_kept_as_it_was(runs: Any) -> None:
    log = runs.done()
    deep: object = 10**3000
    for _ in range(5_000):
        deep = [deep]
    held = {**log[1], "data": {"deep": deep, "text": "before"}}
    resequencer = Resequencer("run")
    resequencer.take(held)
    held["data"]["text"] = "after"
    resequencer.take(held)
    _, one, other = resequencer.take(log[0])
    before, after = Progress("run"), Progress("run")
    assert (one["data"]["text"], other["data"]["text"]) == ("before", "after")  # type: ignore[index]
    for progress, last in ((before, one), (after, held)):
        progress.feed(log[0])
        progress.feed(last)
        progress.feed(one)
    assert (before.duplicates, after.duplicates) == (1, 0)  # the very same content, at any depth


@pytest.mark.parametrize("bound", ["held_max", "held_bytes_max"])
def test_a_bound_below_zero_is_refused(bound: str) -> None:
    with pytest.raises(ValueError, match=f"{bound}: expected at least 0, got -1"):
        Resequencer("run", **{bound: -1})  # type: ignore[arg-type]
