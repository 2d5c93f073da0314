"""One receiver over many broken connections sees what one that never broke sees."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doneness.machine import Progress
from doneness.machine.transport import Journal, Receiver, Resequencer, Resumable, Snapshot


@settings(deadline=None)
@given(st.data())
def test_connections_that_break_reorder_and_repeat(runs: Any, data: Any) -> None:
    """Each brings a part of what is missing, in any order; the viewer names its last seq."""
    log = runs.done()
    with TemporaryDirectory() as folder, Journal(Path(folder) / "run.jsonl", "run") as journal:
        resumable = Resumable(journal, recent_max=data.draw(st.integers(0, 6), label="window"))
        receiver = Receiver(Progress("run"))
        while receiver.progress.last_seq < len(log):
            for envelope in log[journal.entries : journal.entries + data.draw(st.integers(1, 4))]:
                resumable.append(envelope)
            answer = resumable.since(receiver.progress.last_seq)
            if isinstance(answer, Snapshot):
                receiver = Receiver(Progress("run"))
            missing = data.draw(st.permutations(list(answer.envelopes)), label="arriving")
            is_last = journal.entries == len(log)
            for envelope in missing if is_last else missing[: data.draw(st.integers(0, 9))]:
                receiver.feed(envelope)
                assert receiver.status in ("running", "checking", "done")
                assert (receiver.status == "done") <= (receiver.progress.last_seq == len(log))
        assert receiver.held == 0
        assert runs.seen(receiver.progress) == runs.seen(runs.fed(log))


def test_a_reducer_that_is_under_way_is_refused(runs: Any) -> None:
    """Its resequencer would wait for envelopes that the reducer has already."""
    with pytest.raises(ValueError, match="expected a new reducer, got one at seq 2; keep"):
        Receiver(runs.fed(runs.done()[:2]))


def test_a_resequencer_of_another_run_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one of the run 'run', got one of 'other'"):
        Receiver(Progress("run"), resequencer=Resequencer("other"))
