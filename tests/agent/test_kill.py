"""`kill -9` of the whole process at 200 random moments: agent, embedded server, log and list.

After each kill the log replays to its last whole event, what it held before is still there, and
the list is sound and holds everything that the log says was done.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from doneness.generators.loop_oracle import LoopOracle
from doneness.machine.agent.effects import effects_hold
from doneness.machine.agent.todo import TodoList
from doneness.machine.agent.tracked import TrackedRuns
from doneness.machine.watchers.log import LogWriter, log_parts, read_log

KILLS = 200
KILLS_A_FOLDER = 20

Event = dict[str, object]


def judge_log(events: list[Event]) -> None:
    """Each run is legal as far as it went, and none is shown as done."""
    oracle, runs = LoopOracle(rounds_max=12), TrackedRuns()
    for event in events:
        if event["type"] == "iteration_start" and event["iteration"] == 1:
            oracle.reset()
        row = oracle.take(event)
        assert row.refused is None, row.why
        assert not runs.line_after(event).startswith("done")
    shown = runs.close().partition(":")[0]
    assert shown in ("unknown", "checking")


def judge_list(path: Path, events: list[Event]) -> int:
    """Sound, and what a tool reported is there; returns how many entries there are."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    todos = TodoList(path).list_todos()
    assert effects_hold(events, todos)
    assert all(event.get("is_error") is not True for event in events)
    return len(todos)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to start 200 processes quickly")
def test_two_hundred_kills(tmp_path: Path) -> None:
    seed = random.getrandbits(32)
    rng = random.Random(seed)
    sys.stdout.write(f"seed of the moments: {seed}\n")  # shown by pytest if this fails
    pipe = subprocess.PIPE
    worker = [sys.executable, str(Path(__file__).with_name("crash_server.py")), str(tmp_path)]
    entries = logged = parts = 0
    with subprocess.Popen(worker, stdin=pipe, stdout=pipe, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for kill in range(KILLS):
            if kill % KILLS_A_FOLDER == 0:
                folder = tmp_path / str(kill)
                folder.mkdir()
                before: list[Event] = []
            process.stdin.write(f"{folder}\t{rng.random()}\n")
            assert process.stdout.readline() == "9\n"  # by the kill, not by an error of its own
            found = [part for part in log_parts(folder / "run.jsonl") if part.exists()]
            events = list(read_log(folder / "run.jsonl")) if found else []
            assert events[: len(before)] == before
            before = events
            judge_log(events)
            if (folder / "todo.sqlite").exists():
                entries = max(entries, judge_list(folder / "todo.sqlite", events))
            logged, parts = max(logged, len(events)), max(parts, len(found))
        process.stdin.close()
        assert process.wait(60) == 0
    # It was killed at work, not before it: there are entries, and logs that rotated.
    assert entries > 5
    assert logged > 50
    assert parts > 1
    with LogWriter(folder / "run.jsonl") as log:  # nobody holds it, and it can be gone on with
        log.append({"type": "iteration_start", "ts": 0.0, "iteration": 1})
    assert len(list(read_log(folder / "run.jsonl"))) == len(before) + 1
