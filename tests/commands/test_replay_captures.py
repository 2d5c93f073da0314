"""`doneness replay --from`: what the contract makes of a captured stream, and what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from doneness.machine.adapters.capture import ADAPTERS

REPLAY = [sys.executable, "-c", "from doneness.machine.cli import main; main()", "replay"]
CAPTURES = files("doneness.fixtures.captures")
EXPECTED: list[dict[str, Any]] = json.loads(
    CAPTURES.joinpath("expected.json").read_text(encoding="utf-8")
)


def replay(file: str, *arguments: str) -> str:
    with as_file(CAPTURES.joinpath(file)) as path:
        command = [*REPLAY, str(path), "--from", file.split(".", maxsplit=1)[0], *arguments]
        done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    return done.stdout.decode()


@pytest.mark.parametrize("format_", sorted(ADAPTERS))
def test_the_last_line_of_each_run_has_the_expected_status(format_: str) -> None:
    """One capture a format here; the adapters' tests go through all of them."""
    name = {"a2a": "a2a.resumed.sse", "ag-ui": "ag-ui.paused-then-resumed.sse"}
    file = name.get(format_, f"{format_}.text.sse")
    case = next(case for case in EXPECTED if case["file"] == file)
    steps = [json.loads(line) for line in replay(file, "--json").splitlines()]
    ends = [step for step in steps if step["eof"]]
    assert [step["status"] for step in ends] == case["final"]
    assert ends[-1].get("task") == case.get("task")
    assert all(step["missing"] for step in ends)
    assert all(step["said"] for step in steps if not step["eof"])


def test_people_see_what_is_missing_and_whose_word_counts() -> None:
    shown = replay("openai-responses.two-calls.sse", "--language", "en")
    assert "(response.created)" in shown
    assert 'tool.requested call_id="call_1"' in shown
    for missing in (
        "the result of tool call call_1",
        "the owner's statement how the run ended",
        "the application's check",
    ):
        assert missing in shown.split("missing for done: ")[1]
    assert "whose word: `response.completed` is the model's statement" in shown
    assert "工具调用 call_1 的结果" in replay("openai-responses.two-calls.sse")


def test_a_task_of_several_runs_is_shown_once_there_are_several() -> None:
    first, second = replay("ag-ui.failed-then-retried.sse", "--language", "en").split("\n\n")[:2]
    assert "task so far" not in first
    assert "run 2 (retry)" in second
    assert "task so far: checking" in second


def test_standard_input_and_the_name_of_the_run() -> None:
    body = CAPTURES.joinpath("chat.text.sse").read_bytes()
    command = [*REPLAY, "-", "--from", "chat", "--run", "r7", "--json"]
    done = subprocess.run(command, input=body, check=True, capture_output=True, timeout=60)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["run"], last["run_bound_by"], last["status"]) == ("r7", "--run", "unknown")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "chat"], "no such file"),
        (["late_delta", "--from", "chat"], "no such file"),
        (["nowhere.sse", "--from", "ag-ui"], "no such file"),
        (["x", "--from", "smoke-signals"], "'smoke-signals' is not one of"),
        (["-", "--from", "chat", "--run", ""], "'--run': run: expected the id"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[str], message: str) -> None:
    command = [*REPLAY, *arguments]
    done = subprocess.run(command, input=b"", check=False, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("format_", "body", "said"),
    [
        (
            "chat",
            b"<!DOCTYPE html>\n<html>502 Bad Gateway</html>\n",
            "expected server-sent events or JSON, got '<!DOCTYPE html>'",
        ),
        ("ag-ui", b"\x7fELF\x02\x01\n\xd0\xd0", "invalid UTF-8 at byte 7 of the stream"),
        ("openai-responses", b'{"error": {"code": "no_such_model"}}', "an event without a type"),
        ("a2a", b"", "no event: the stream is empty, or was cut before its first event"),
    ],
)
def test_what_is_no_capture_is_named_in_full(
    format_: str, body: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "capture"
    path.write_bytes(body)
    command = [*REPLAY, str(path), "--from", format_]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    shown = done.stdout.decode()
    assert said in shown
    assert "unknown" in shown


def test_a_stream_with_an_event_is_not_called_empty() -> None:
    assert "no event" not in replay("ag-ui.late-error.sse")
