"""Whoever leaves and comes back sees what somebody sees who never left."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Progress
from doneness.machine.transport import Journal, Missing, Resumable, Snapshot


def resumed(log: Resumable, progress: Progress, cursor: int) -> Progress:
    """A viewer's reducer after it came back."""
    answer = log.since(cursor)
    if isinstance(answer, Snapshot):
        progress = Progress("run")
    for envelope in answer.envelopes:
        progress.feed(envelope)
    return progress


@settings(deadline=None)
@given(st.data())
def test_coming_back_at_any_time_is_as_never_having_left(runs: Any, data: Any) -> None:
    """Also with conflicts, gaps and repeats in the log, a small window, a restarted server."""
    log = runs.done()
    others = [{**event, "data": {"text": "other"}} for event in log[:3]]
    others += [{**log[0], "seq": seq} for seq in (2, 3, 4)]
    arriving = data.draw(
        st.just(log) | st.lists(st.sampled_from(log + others), max_size=12), label="log"
    )
    leaves = data.draw(st.integers(0, len(arriving)), label="leaves after")
    window = data.draw(st.integers(0, 5), label="window")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        stayed, left = Progress("run"), Progress("run")
        with Journal(path, "run") as journal:
            resumable = Resumable(journal, recent_max=window)
            for number, envelope in enumerate(arriving):
                if resumable.append(envelope) == "known":
                    continue  # what is known is not sent to anybody
                stayed.feed(envelope)
                if number < leaves:
                    left.feed(envelope)
            if data.draw(st.booleans(), label="in the same process"):
                left = resumed(resumable, left, left.last_seq)
        with Journal(path, "run") as journal:
            left = resumed(Resumable(journal, recent_max=window), left, left.last_seq)
        assert runs.seen(left) == runs.seen(stayed)


def test_a_recent_cursor_gets_what_is_missing_and_an_old_one_everything(
    runs: Any, tmp_path: Path
) -> None:
    log = runs.done()
    with Journal(tmp_path / "run.jsonl", "run") as journal:
        resumable = Resumable(journal, recent_max=3)
        for envelope in log:
            resumable.append(envelope)
        assert resumable.since(len(log)) == Missing(())
        assert resumable.since(len(log) - 3) == Missing(tuple(log[-3:]))
        for cursor in (0, len(log) - 4, len(log) + 1):
            snapshot = resumable.since(cursor)
            assert isinstance(snapshot, Snapshot)
            assert list(snapshot.envelopes) == log


def test_a_snapshot_ends_where_the_log_ended_when_it_was_asked_for(
    runs: Any, tmp_path: Path
) -> None:
    log = runs.done()
    with Journal(tmp_path / "run.jsonl", "run") as journal:
        resumable = Resumable(journal, recent_max=0)
        for envelope in log[:4]:
            resumable.append(envelope)
        snapshot = resumable.since(1)
        resumable.append(log[4])
    assert list(snapshot.envelopes) == log[:4]


def test_a_log_whose_beginning_is_gone_never_shows_done(runs: Any, tmp_path: Path) -> None:
    """Somebody cut the file by hand: the snapshot is what there is, and the gap is seen."""
    path, log = tmp_path / "run.jsonl", runs.done()
    with Journal(path, "run") as journal:
        for envelope in log[2:]:
            journal.append(envelope)
        assert not journal.is_regular
        assert resumed(Resumable(journal), Progress("run"), 0).status == "unknown"


@pytest.mark.parametrize("wrong", [-1, True, "3", None])
def test_what_is_no_cursor_is_refused(wrong: Any, tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "run.jsonl", "run") as journal,
        pytest.raises(ValueError, match="last_seq: expected an integer of at least 0"),
    ):
        Resumable(journal).since(wrong)
