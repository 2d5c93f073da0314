"""Every pair of A2A states: what a task that is in the one may report next."""

from __future__ import annotations

import pytest

from doneness.machine import Progress
from doneness.machine.adapters.a2a import STATES, A2AAdapter

ENDS = {"completed": "checking", "failed": "failed", "rejected": "failed", "canceled": "cancelled"}
WAITS = {"input-required": "waiting", "auth-required": "waiting"}
GOES_ON = {"submitted": "running", "working": "running", "unspecified": "running"}
SHOWN = ENDS | WAITS | GOES_ON


def shown(*states: str, one_dot_oh: bool) -> list[tuple[str, str]]:
    """The runs, and the status of each, after status updates with these states."""
    adapter = A2AAdapter("run")
    runs = {"run": Progress("run")}
    for state in states:
        status = {"state": f"TASK_STATE_{state.upper().replace('-', '_')}" if one_dot_oh else state}
        update = {"taskId": "t", "contextId": "c", "status": status}
        value = {"statusUpdate": update} if one_dot_oh else {"kind": "status-update", **update}
        for envelope in adapter.feed_value(value):
            runs.setdefault(envelope["run"], Progress(envelope["run"])).feed(envelope)
        for begins in adapter.runs:
            runs.setdefault(begins.run, Progress(begins.run))
    return [(run, str(progress.status)) for run, progress in runs.items()]


def test_each_state_is_an_end_a_wait_or_neither() -> None:
    assert SHOWN.keys() == STATES.keys()


@pytest.mark.parametrize("one_dot_oh", [True, False], ids=["1.0", "0.3"])
@pytest.mark.parametrize("later", sorted(SHOWN))
@pytest.mark.parametrize("before", sorted(SHOWN))
def test_what_may_follow(before: str, later: str, one_dot_oh: bool) -> None:
    assert shown(before, one_dot_oh=one_dot_oh) == [("run", SHOWN[before])]
    runs = shown(before, later, one_dot_oh=one_dot_oh)
    if before in ENDS:
        assert runs == [("run", "unknown")]
    elif before in WAITS:
        assert runs == [("run", "waiting"), ("run/2", SHOWN[later])]
    else:
        assert runs == [("run", SHOWN[later])]
