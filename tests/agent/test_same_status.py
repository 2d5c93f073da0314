"""The terminal view and the replay of the log show the same status after the same event."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from doneness.machine.agent.conversation import Event
from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import Answer, Call, answer, cut_in_event
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.tools import Tools
from doneness.machine.agent.tracked import TrackedRun
from doneness.machine.watchers.log import LogWriter, read_log
from doneness.machine.watchers.replay import replay
from doneness.machine.watchers.terminal import TerminalView
from doneness.machine.watchers.watching import watched

CALLS = answer(Call("add_todo", {"title": "x"}), Call("no_such_tool", {}))


@pytest.mark.parametrize(
    ("script", "last"),
    [
        ([CALLS, answer("合成")], "checking"),
        ([CALLS, cut_in_event(answer("合成"))], "failed"),
        ([CALLS] * 3, "incomplete"),
    ],
)
def test_view_and_replay_agree(
    tmp_path: Path, tools: Tools, script: list[Answer], last: str
) -> None:
    shown: list[str] = []

    def view() -> TerminalView:
        return TerminalView(TrackedRun("r").line_after, Console(file=io.StringIO()))

    live = view()
    with ScriptedServer(script) as server, LogWriter(tmp_path / "log", bytes_max=300) as log:

        def note(_event: Event) -> None:
            shown.append(live.status_line)

        events = run_agent("go", tools, server.endpoint(retries_max=0), rounds_max=3)
        for _ in watched(events, log.append, live.feed, note):
            pass
    again = view()
    replayed = []
    for event in replay(read_log(tmp_path / "log")):
        again.feed(event)
        replayed.append(again.status_line)
    assert replayed == shown
    assert shown[-1].startswith(f"{last}: ")
    assert len(set(shown)) > 1
