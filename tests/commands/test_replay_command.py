"""`doneness replay`, run as people run it: a real process, bytes in and bytes out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from doneness.fixtures.cases import every
from doneness.spec.vocabulary import LABELS

REPLAY = [sys.executable, "-c", "from doneness.machine.cli import main; main()", "replay"]
ASCII_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(*arguments: str, given: bytes = b"", **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [*REPLAY, *arguments],
        check=False,
        input=given,
        capture_output=True,
        env=environment,
        timeout=60,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def envelope(seq: int, kind: str, **changes: object) -> dict[str, object]:
    return {"run": "a", "id": f"a:{seq}", "seq": seq, "kind": kind, "data": {}, **changes}


def lines(*events: object) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


@pytest.mark.parametrize("language", LABELS)
def test_a_case_by_name_shows_events_statuses_labels_eof_and_issues(language: str) -> None:
    shown = run("late_delta", "--language", language)
    assert shown.returncode == 0
    table = shown.stdout.splitlines()
    assert table[0] == "late_delta (run run-A)"
    for line, kind, status in zip(
        table[1:5],
        ("run.ended", "app.checked", "text.delta", "EOF"),
        ("checking", "done", "unknown", "unknown"),
        strict=True,
    ):
        assert kind in line
        assert f"  {status} " in line
        assert LABELS[language][status] in line
    assert table[3].endswith("! event_after_terminal")
    assert table[5] == "issues: event_after_terminal"


def test_all_cases_are_as_expected() -> None:
    shown = run("all")
    assert shown.returncode == 0
    count = len(list(every()))
    assert shown.stdout.endswith(f"\n{count} cases, 0 not as expected\n")
    assert shown.stderr == ""


@pytest.mark.parametrize("variables", [{}, ASCII_LOCALE, {"PYTHONOPTIMIZE": "1"}])
def test_json_has_one_ascii_object_a_step_in_any_locale(variables: dict[str, str]) -> None:
    shown = run("all", "--json", **variables)
    assert shown.returncode == 0
    assert shown.stdout.isascii()
    steps = [json.loads(line) for line in shown.stdout.splitlines()]
    for case in every():
        own = [step for step in steps if step["case"] == case.name]
        statuses = [*(case.expected_steps or ())]
        events = [*case.events]
        if not events or events[-1] is not None:
            statuses.append(str(case.expected_final))
            events.append(None)
        assert [step["status"] for step in own] == statuses
        assert [step["event"] for step in own] == events
        assert [step["eof"] for step in own] == [event is None for event in events]
        assert all(step["label"] == LABELS["zh"][step["status"]] for step in own)


def test_an_ascii_locale_prints_the_same_table() -> None:
    assert run("all", **ASCII_LOCALE).stdout == run("all").stdout


def test_a_case_that_shows_something_else_is_marked_and_fails(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    case = {
        "name": "n",
        "run": "a",
        "events": [envelope(1, "approval.wait")],
        "expected_steps": ["done"],
    }
    file.write_text(json.dumps(case, indent=1))
    shown = run(str(file))
    assert shown.returncode == 1
    assert "!= expected done" in shown.stdout


def test_a_log_is_bound_by_its_first_envelope_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(
        lines(envelope(1, "approval.wait"), envelope(1, "x", run="b"), {"no": "envelope"})
    )
    shown = run(str(file))
    table = shown.stdout.splitlines()
    assert shown.returncode == 0
    assert "run a, as the first envelope says" in table[0]
    assert [line.split("  ")[0:1] for line in table[1:5]]
    assert "waiting" in table[1]
    assert "run=b" in table[2]
    assert "waiting" in table[2]
    assert table[3].endswith("! bad_envelope")
    assert "EOF" in table[4]


def test_what_comes_before_the_first_envelope_counts_as_what_it_is() -> None:
    """It is no envelope, or of another run; it does not say which run the log is of."""
    given = lines({"run": "b"}, 42, envelope(1, "approval.wait"), envelope(1, "x", run="b"))
    shown = run("-", "--json", given=given)
    steps = [json.loads(line) for line in shown.stdout.splitlines()]
    assert shown.returncode == 0
    assert {step["run"] for step in steps} == {"a"}
    assert steps[0]["issues"] == ["bad_envelope"]
    assert steps[3]["issues"] == ["bad_envelope"]


def test_a_log_without_an_envelope_has_no_run() -> None:
    """And the message says what to do."""
    shown = run("-", given=lines({"run": "b"}, 42))
    assert shown.returncode == 2
    assert "--run" in shown.stderr


def test_a_reader_that_goes_away_is_no_failure() -> None:
    """`doneness replay all | head -1` ends quietly."""
    command = [Path(sys.executable).with_name("doneness"), "replay", "all"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_log_can_be_bound_to_another_run() -> None:
    shown = run("-", "--run", "b", "--json", given=lines(envelope(1, "approval.wait")))
    [event, eof] = [json.loads(line) for line in shown.stdout.splitlines()]
    assert (event["run"], event["run_bound_by"], event["status"]) == ("b", "--run", "running")
    assert eof["eof"]


def test_standard_input_is_replayed_as_it_arrives() -> None:
    with subprocess.Popen(
        [*REPLAY, "-", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for seq, (kind, status) in enumerate(
            [("cancel.requested", "cancelling"), ("approval.wait", "waiting")], 1
        ):
            process.stdin.write(lines(envelope(seq, kind)))
            process.stdin.flush()
            # Would block for ever if the line were not replayed before the next one is written.
            assert json.loads(process.stdout.readline())["status"] == status
        process.stdin.close()
        assert json.loads(process.stdout.readline())["eof"]
    assert process.returncode == 0


def test_a_case_on_standard_input_is_a_case() -> None:
    case = {"name": "n", "run": "a", "events": [envelope(1, "approval.wait"), None]}
    for text in (json.dumps(case), json.dumps([case], indent=2)):
        shown = run("-", given=text.encode())
        assert shown.stdout.startswith("n (run a)\n   1  a:1 approval.wait ")


HOSTILE = "\x1b[2J\x07\x9b31m\u202e\x7f\u2028"


def test_nothing_of_an_event_acts_on_the_terminal(tmp_path: Path) -> None:
    hostile = {
        "run": HOSTILE,
        "id": f"id{HOSTILE}",
        "seq": 1,
        "kind": f"kind{HOSTILE}",
        "data": {HOSTILE: HOSTILE, "deep": [{HOSTILE: HOSTILE}]},
    }
    log = tmp_path / f"log{HOSTILE}.jsonl"
    log.write_bytes(json.dumps(hostile, ensure_ascii=False).encode() + b"\n" + lines(HOSTILE))
    case = tmp_path / "case.json"
    case.write_text(json.dumps({"name": HOSTILE, "run": HOSTILE, "events": [hostile, HOSTILE]}))
    bad = tmp_path / f"bad{HOSTILE}.json"
    bad.write_text(json.dumps({"name": "n", "run": "r", "events": [], HOSTILE: HOSTILE}))
    for file in (log, case, bad):
        for arguments in ((str(file),), (str(file), "--json")):
            shown = run(*arguments)
            written = (shown.stdout + shown.stderr).replace("\n", "")
            assert written
            assert written.isprintable(), arguments


def test_deep_and_long_lines_are_replayed() -> None:
    deep = b'{"run":"a","id":"1","seq":1,"kind":"k","data":{"d":%b%b}}\n' % (
        b"[" * 100_000,
        b"]" * 100_000,
    )
    long = b'{"run":"a","id":"2","seq":2,"kind":"k","data":{"n":%b}}\n' % (b"9" * 10_000)
    for arguments in (("-",), ("-", "--json")):
        shown = run(*arguments, given=deep + long)
        assert shown.returncode == 0
        assert "not_json" in shown.stdout


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"", "holds nothing"),
        (b"{", "line 1, column 2: "),
        (b'{\n "name": "n", "run": 1, "events": []}', "line 2, column 22, key run: "),
        (b'[{"name": "n", "run": "r", "events": [], "s": 1}]', "line 1, column 47, key [0].s: "),
        (b'{"run": "a"}\n{"run": "a", "id" 1}\n', "line 2, column 19, key id: "),
        (b'{"run": "a"}\n\n{"run": "\xff"}\n', "line 3, column 10: not UTF-8"),
        (b'{"type": "done", "ts": 1}\n', "line 1, column 1, key run: "),
        (b'{"run": "", "id": "1"}\n', "line 1, column 1, key run: "),
        (b'{"run": "a"}\n{"run": "a", "id', "line 2, column 14"),
        (b"[]", "holds no case"),
    ],
)
def test_a_bad_file_gets_one_line_with_its_place(
    tmp_path: Path, content: bytes, place: str
) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    for shown in (run(str(file)), run("-", given=content), run(str(file), **ASCII_LOCALE)):
        assert shown.returncode == 2
        assert shown.stderr.startswith("Error: ")
        assert place in shown.stderr
        assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize("what", ["nromal", "", "/", "none/at all.json"])
def test_what_is_neither_case_nor_file(what: str) -> None:
    shown = run(what)
    assert shown.returncode == 2
    assert shown.stderr.count("\n") == 1
    assert ("did you mean normal?" in shown.stderr) == (what == "nromal")


def test_a_run_for_a_case_is_refused() -> None:
    shown = run("normal", "--run", "b")
    assert shown.returncode == 2
    assert "a case names its run" in shown.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [*REPLAY, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(lines(envelope(1, "approval.wait")))
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(lines(*(envelope(seq, "approval.wait") for seq in range(2, 50))))
        process.stdin.close()
        assert process.stderr.read() == b""
