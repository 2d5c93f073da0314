"""`doneness frame` prints what a capture frames, however it is fed."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from doneness.machine.commands.frame import command

WIRE = "id: 1\ndata: 你\n\n: hi\nretry: 5\nevent: e\ndata: left\ndata: open".encode()
LEFT = {"line": "data: open", "data": ["left"], "event": "e", "id": "1"}


def run(*arguments, wire=WIRE):
    return CliRunner().invoke(command, arguments, input=wire)


@pytest.mark.parametrize("chunks", [(), ("--chunks", "1"), ("--chunks", "random:7")], ids=str)
def test_events_then_what_is_known_at_the_end(chunks):
    """The same lines for any chunks; what was left unfinished is said, not framed."""
    result = run(*chunks)
    assert result.exit_code == 0
    assert list(map(json.loads, result.stdout.splitlines())) == [
        {"event": "message", "data": "你", "id": "1"},
        {"last_event_id": "1", "retry_ms": 5, "unfinished": LEFT},
    ]
    assert result.stdout.isascii()


def test_comments_on_request():
    """In their place."""
    assert '{"comment": " hi"}' in run("--comments").stdout


def test_a_file_and_the_replace_policy(tmp_path):
    """A capture with a wrong byte, read on as browsers do."""
    path = tmp_path / "capture"
    path.write_bytes(b"data: \xff\x7f\n\n")
    result = run("--errors", "replace", str(path))
    assert json.loads(result.stdout.splitlines()[0])["data"] == "\ufffd\x7f"
    assert "\x7f" not in result.stdout


def test_a_wrong_byte_ends_in_one_clear_line():
    """After the events before it; exit status 2."""
    result = run(wire=b"data: a\n\ndata: \xff\n\n")
    assert result.exit_code == 2
    assert json.loads(result.stdout.splitlines()[0])["data"] == "a"
    assert "byte 15 of the stream" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("chunks", ["0", "-1", "x", "random:", "random:x", "1.5", "٣"])
def test_bad_chunks_are_explained(chunks):
    """What was expected; exit status 2."""
    result = run("--chunks", chunks)
    assert result.exit_code == 2
    assert "random:7" in result.stderr
