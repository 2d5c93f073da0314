"""The two views: what is shown, what is not, and that nothing hostile reaches a terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from doneness.machine.agent.tracked import TrackedRun
from doneness.machine.watchers.quiet import QuietView
from doneness.machine.watchers.terminal import TerminalView
from doneness.machine.watchers.watching import watched

Event = dict[str, object]

ERROR: Event = {"type": "error", "ts": 17.0, "message": "the model call failed: \x1b[31mno"}


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    size = {"width": 100, "height": 20, "color_system": None, "highlight": False}
    return Console(file=written, force_terminal=terminal, **size), written  # type: ignore[arg-type]


def shown(events: list[Event], *, terminal: bool = False) -> str:
    screen, written = console(terminal=terminal)
    tracked = TrackedRun("r")
    with TerminalView(tracked.line_after, screen) as view:
        for event in events:
            view.feed(event)
    return written.getvalue()


def test_rounds_text_tools_and_status(events: list[Event]) -> None:
    lines = shown(events).splitlines()
    assert lines == [
        "── round 1",
        "running: In progress, not finished",
        "Let me",
        "see 合成\\x1b[2J\\x07\\r\\u202e",
        '  … add {"title": "x"}',
        "  ✓ add: [bold]added[/bold]",
        '  … add {"title": ""}',
        "  ✗ add: too short",
        '  … \\x1b[2J\\x07\\r\\u202e "{"',
        "  ✗ \\x1b[2J\\x07\\r\\u202e: unknown tool \\x1b[2J\\x07\\r\\u202e",
        "── round 2",
        "Done.",
        "checking: The run ended, waiting for the application's check",
    ]


def test_on_a_terminal_it_moves_and_what_was_said_stays(events: list[Event]) -> None:
    written = shown(events, terminal=True)
    still = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written)  # what rich itself moves and colours
    for line in ("── round 1", "Let me", "  ✓ add: [bold]added[/bold]", "  ✗ add: too short"):
        assert line in still
    assert still.rstrip().endswith("checking: The run ended, waiting for the application's check")
    assert "\x07" not in written
    assert "\u202e" not in written
    assert "\x1b[2J" not in written


def test_while_waiting_it_says_for_what(events: list[Event]) -> None:
    screen, written = console(terminal=True)
    with TerminalView(console=screen) as view:
        for count, expected in (
            (1, "waiting for the model"),
            (5, 'waiting for add {"title": "x"}'),
        ):
            for event in events[:count]:
                view.feed(event)
            written.truncate(0)
            screen.print(view._moving())
            assert expected in written.getvalue()


def test_never_a_percentage(events: list[Event]) -> None:
    for terminal in (False, True):
        assert "%" not in shown([*events[:-1], ERROR], terminal=terminal)


def test_the_status_is_asked_for_once_after_each_event(events: list[Event]) -> None:
    asked: list[Event] = []

    def status_of(event: Event) -> str:
        asked.append(event)
        return f"status {len(asked)}"

    screen, _ = console(terminal=False)
    view = TerminalView(status_of, screen)  # type: ignore[arg-type]
    for count, event in enumerate(events, start=1):
        view.feed(event)
        assert view.status_line == f"status {count}"
    assert asked == events


def test_an_error_and_a_status_of_the_hosts(events: list[Event]) -> None:
    screen, written = console(terminal=False)
    view = TerminalView(console=screen)
    for event in (*events[:2], ERROR):
        view.feed(event)
    view.show_status("failed: no")
    view.close()
    assert written.getvalue().splitlines()[-3:] == [
        "see",
        "✗ the model call failed: \\x1b[31mno",
        "failed: no",
    ]


STRANGE: list[Event] = [
    {},
    {"type": None},
    {"type": "\x1b[2J"},
    {"type": "token"},
    {"type": "token", "content": 3},
    {"type": "tool_start"},
    {"type": "tool_result", "output": None},
    {"type": "error"},
    {"type": "iteration_start", "iteration": "\x1b"},
    {"type": ["done"]},
    {"type": "usage", "prompt_tokens": "many", "ts": "late"},
]


@pytest.mark.parametrize("strange", STRANGE)
def test_no_event_breaks_a_view(strange: Event) -> None:
    for terminal in (False, True):
        assert "\x1b[2J" not in shown([strange], terminal=terminal)
    QuietView(io.StringIO()).feed(strange)


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_long_line_is_shown_whole_when_it_ends(end: str) -> None:
    pieces: list[Event] = [{"type": "token", "ts": 0.0, "content": f"{n}."} for n in range(2000)]
    begin: Event = {"type": "iteration_start", "ts": 0.0, "iteration": 1}
    written = shown([begin, *pieces, {"type": "token", "ts": 0.0, "content": end}])
    assert "".join(f"{n}." for n in range(2000)) in written.replace("\n", "")
    assert written.count("1999.") == 1


def test_the_quiet_view_shows_failed_tools_and_errors_only(events: list[Event]) -> None:
    stream = io.StringIO()
    view = QuietView(stream)
    for event in (*events, ERROR):
        view.feed(event)
    assert stream.getvalue().splitlines() == [
        "✗ add: too short",
        "✗ \\x1b[2J\\x07\\r\\u202e: unknown tool \\x1b[2J\\x07\\r\\u202e",
        "✗ the model call failed: \\x1b[31mno",
    ]


def test_a_watcher_that_raises_closes_the_stream(events: list[Event]) -> None:
    closed = []

    def stream():  # type: ignore[no-untyped-def]
        try:
            yield from events
        finally:
            closed.append(True)

    def broken(_event: Event) -> None:
        raise RuntimeError("no space")

    with pytest.raises(RuntimeError, match="no space"):
        list(watched(stream(), broken))
    assert closed == [True]
    seen: list[Event] = []
    run = watched(stream(), seen.append)
    assert seen == []
    assert [next(run), next(run)] == events[:2] == seen
    run.close()
    assert closed == [True, True]
