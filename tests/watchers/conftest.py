"""Events of runs, as the loop yields them, for the watchers to read."""

from __future__ import annotations

import pytest

Event = dict[str, object]

HOSTILE = "\x1b[2J\x07\r\u202e"


@pytest.fixture
def events() -> list[Event]:
    """Two rounds: a tool that works, one that fails, one nobody knows; then an answer."""
    return [
        {"type": "iteration_start", "ts": 10.0, "iteration": 1},
        {"type": "token", "ts": 10.5, "content": "Let me\nsee"},
        {"type": "token", "ts": 11.0, "content": f" 合成{HOSTILE}"},
        {"type": "usage", "ts": 12.0, "prompt_tokens": 5, "completion_tokens": 2},
        {"type": "tool_start", "ts": 12.0, "call_id": "a", "name": "add", "args": {"title": "x"}},
        _result(13.0, "a", "add", "[bold]added[/bold]", is_error=False),
        {"type": "tool_start", "ts": 13.0, "call_id": "b", "name": "add", "args": {"title": ""}},
        _result(13.25, "b", "add", "too short", is_error=True),
        {"type": "tool_start", "ts": 14.0, "call_id": "c", "name": HOSTILE, "args": "{"},
        _result(14.5, "c", HOSTILE, f"unknown tool {HOSTILE}", is_error=True),
        {"type": "iteration_start", "ts": 15.0, "iteration": 2},
        {"type": "token", "ts": 15.5, "content": "Done."},
        {"type": "done", "ts": 16.0},
    ]


def _result(ts: float, call_id: str, name: str, output: str, *, is_error: bool) -> Event:
    named = {"call_id": call_id, "name": name, "output": output, "is_error": is_error}
    return {"type": "tool_result", "ts": ts, **named}
