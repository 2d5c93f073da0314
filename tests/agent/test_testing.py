"""The assertions on behaviour: each holds and fails where it should, and shows the events."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import Call, answer
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.testing import Behaviour, behaviour_of
from doneness.machine.agent.tools import Tools


@pytest.fixture
def did(tools: Tools) -> Behaviour:
    """Adds an entry, completes it, and says so."""
    calls = Call("add_todo", {"title": "买牛奶"}), Call("complete_todo", {"todo_id": 1})
    script = [answer("Let me ", "see.\x1b[2J", calls[0]), answer(calls[1]), answer("Done.")]
    with ScriptedServer(script) as server:
        return behaviour_of(run_agent("go", tools, server.endpoint()))


def test_what_holds_can_be_chained(did: Behaviour) -> None:
    did.first_tool("add_todo", title="买牛奶").last_tool("complete_todo", todo_id=1)
    did.first_tool("add_todo")
    did.no_failed_tool().rounds_at_most(3).ends_in("done").no_done_before_the_last_tool_result()


FAILURES: list[tuple[Callable[[Behaviour], object], str]] = [
    (lambda did: did.first_tool("complete_todo", todo_id=1), "complete_todo(todo_id=1), got add"),
    (lambda did: did.first_tool("add_todo", title="x"), 'got add_todo(title="买牛奶")'),
    (lambda did: did.last_tool("complete_todo", todo_id=True), "got complete_todo(todo_id=1)"),
    (lambda did: did.first_tool("add_todo", title="买牛奶", more=1), "more=1"),
    (lambda did: did.rounds_at_most(2), "at most 2 rounds, got 3"),
    (lambda did: did.ends_in("error"), "end in error, got done"),
]


@pytest.mark.parametrize(("assertion", "words"), FAILURES)
def test_what_does_not_hold_shows_the_events(
    did: Behaviour, assertion: Callable[[Behaviour], object], words: str
) -> None:
    with pytest.raises(AssertionError) as failure:
        assertion(did)
    message = str(failure.value)
    assert words in message
    assert did.table()[2:].splitlines()[1] in message
    assert "> " in message
    assert "\x1b" not in message


def test_the_table(did: Behaviour) -> None:
    lines = did.table(marked=[4]).splitlines()
    assert lines[0] == "   1  iteration_start  round 1"
    assert lines[1] == '   2  token            "Let me see.\\x1b[2J" in 2 pieces'
    assert lines[3] == '>  5  tool_start       add_todo(title="买牛奶")'
    assert lines[4].startswith('   6  tool_result      ✓ add_todo: {"todo_id":1')
    assert lines[-1].split() == ["14", "done"]


def test_a_failed_tool(tools: Tools) -> None:
    with ScriptedServer([answer(Call("complete_todo", {"todo_id": 7})), answer("x")]) as server:
        did = behaviour_of(run_agent("go", tools, server.endpoint()))
    did.ends_in("done")
    with pytest.raises(AssertionError, match=r"no failed tool, got 1\n(.*\n)+> *4 .*✗"):
        did.no_failed_tool()


START = {"type": "tool_start", "call_id": "a", "name": "t", "args": "broken {"}
RESULT = {"type": "tool_result", "call_id": "a", "name": "t", "output": "", "is_error": False}
DONE = {"type": "done"}


def test_streams_that_no_loop_of_ours_yields() -> None:
    """A log may come from another loop."""
    early = behaviour_of([START, DONE, RESULT])
    with pytest.raises(AssertionError, match="no done before the last tool_result"):
        early.no_done_before_the_last_tool_result()
    with pytest.raises(AssertionError, match="no done before the last tool_result"):
        behaviour_of([START, DONE]).no_done_before_the_last_tool_result()
    with pytest.raises(AssertionError, match="more came after it"):
        early.ends_in("done")
    with pytest.raises(AssertionError, match="no end at all"):
        behaviour_of([START]).ends_in("done")
    with pytest.raises(AssertionError, match="done and done"):
        behaviour_of([DONE, DONE]).ends_in("done")
    with pytest.raises(AssertionError, match="no tool was called"):
        behaviour_of([DONE]).first_tool("t")
    with pytest.raises(AssertionError, match=r'got t: "broken \{"'):
        early.first_tool("t", x=1)
