"""What a program can do wrong: a verdict of its own each, at the event that led there."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from doneness.generators.divergence import compare
from doneness.generators.moves import BY_NAME, play
from doneness.generators.oracle import Oracle
from doneness.generators.subjects.adapted import Adapted
from doneness.generators.subjects.program import (
    CannotStartError,
    Limits,
    MisbehavedError,
    Program,
    Verdict,
)
from doneness.generators.subjects.protocol import json_of
from doneness.generators.subjects.python_object import PythonObject
from doneness.generators.subjects.reducer_program import GIVEN_UP, NOT_RUN, ReducerProgram
from doneness.machine import Progress

RUN = "run-A"
QUICK = Limits(
    answer_seconds=0.6, late_seconds=0.6, stderr_bytes_max=1 << 16, line_bytes_max=1 << 20
)

# A good program around the project's own reducer, which does something wrong where it is told.
PROGRAM = """
import json, os, signal, sys, time
from doneness.machine import Progress

def out(answer):
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()

def feed(event):
    if event is None:
        reducer.close_transport()
    else:
        reducer.feed(event)
    if isinstance(event, dict) and event["kind"] == "cancel.requested":
        {wrong}
    return {{"status": reducer.status, "issues": reducer.issues, "text": reducer.text}}

for line in sys.stdin:
    q = json.loads(line)
    op = q["op"]
    answer = {{"protocol": 1, "name": "wrong", "capabilities": {capabilities}}}
    if op in ("open", "trace"):
        reducer = Progress(q["run"])
        answer = {{"status": reducer.status}}
    if op in ("feed", "close"):
        answer = feed(q.get("event"))
    if op == "trace":
        shown = [feed(event) for event in q["events"]]
        answer = {{"shown": shown if q["every"] else shown[-1:]}}
    out({{{numbered} **answer}})
"""

WRONG = {
    "exits with a status": ("os._exit(3)", Verdict.CRASHED, "exit status 3"),
    "raises": ("raise RuntimeError('because')", Verdict.CRASHED, "because"),
    "is killed": ("os.kill(os.getpid(), signal.SIGSEGV)", Verdict.CRASHED, "SIGSEGV"),
    "exits": ("os._exit(0)", Verdict.EXITED, "exit status 0"),
    "closes its stdout": ("os.close(1); time.sleep(60)", Verdict.EXITED, "closed its stdout"),
    "hangs": ("time.sleep(60)", Verdict.HANGS, "no answer within"),
    "spins": ("exec('while True: pass')", Verdict.HANGS, "no answer within"),
    "is late": ("time.sleep(0.9)", Verdict.LATE, "the deadline is"),
    "answers twice": ("out({'n': q['n'], 'status': 'running'})", Verdict.TWICE, ""),
    "prints garbage": ("print('thinking...', flush=True)", Verdict.GARBAGE, "thinking..."),
    "prints a list": ("out([1])", Verdict.GARBAGE, "[1]"),
    "prints no UTF-8": ("os.write(1, b'\\xff\\n')", Verdict.GARBAGE, ""),
    "prints a huge line": ("os.write(1, b'x' * (1 << 22))", Verdict.HUGE, "1,048,576 bytes"),
    "prints without end": ("exec('while True: os.write(1, bytes(9999))')", Verdict.HUGE, ""),
    "floods stderr": ("os.write(2, b'x' * (1 << 22))", Verdict.FLOODS, "65,536 bytes"),
}


def program(wrong: str, *, numbered: bool = True, trace: bool = True) -> list[str]:
    code = PROGRAM.format(
        wrong=wrong,
        numbered='"n": q["n"],' if numbered else "",
        capabilities=["trace"] if trace else [],
    )
    return [sys.executable, "-c", code]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("trace", [True, False], ids=["whole traces", "event by event"])
@pytest.mark.parametrize("numbered", [True, False], ids=["numbered", "not numbered"])
@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_has_its_verdict_at_its_event(name: str, numbered: bool, trace: bool) -> None:
    """The verdict stands at the event that led there, and what came before was compared."""
    wrong, verdict, detail = WRONG[name]
    subject = ReducerProgram(program(wrong, numbered=numbered, trace=trace), QUICK)
    names = ["text", "requested c1", "cancel requested", "text", "EOF"]
    moves = play(Oracle(RUN), [BY_NAME[one] for one in names])
    divergence = compare(subject, "some check", RUN, moves)
    assert divergence is not None
    assert len(divergence.lines) == 3
    shown = divergence.lines[-1].shown
    assert shown["verdict of the program"] == verdict
    assert detail in shown["failure"]
    assert str(verdict) in divergence.table()
    subject.close()


def test_a_second_answer_to_the_very_last_question_is_noticed() -> None:
    """Also where nothing follows that could be mixed up."""
    wrong = "out({'n': q['n'], 'status': 'running'})"
    subject = ReducerProgram(program(wrong), QUICK)
    moves = play(Oracle(RUN), [BY_NAME["cancel requested"]])
    divergence = compare(subject, "some check", RUN, moves)
    assert divergence.lines[-1].shown["verdict of the program"] == Verdict.TWICE
    subject.close()


def test_after_a_wrong_the_program_is_started_anew_and_the_rest_is_not_run() -> None:
    """Within one batch nothing after the failure is judged; the next batch is."""
    subject = ReducerProgram(program("os._exit(3)"), QUICK)
    good = [move.event for move in play(Oracle(RUN), [BY_NAME["text"]])]
    bad = [move.event for move in play(Oracle(RUN), [BY_NAME["cancel requested"]])]
    shown = subject.last(RUN, [good, bad, good])
    assert [one.get("status") for one in shown] == ["running", None, None]
    assert shown[2] is NOT_RUN
    assert subject.last(RUN, [good])[0]["status"] == "running"
    subject.close()


def test_one_that_hangs_for_ever_is_given_up() -> None:
    """However often it is asked, the time it can take is bounded."""
    subject = ReducerProgram(
        program("time.sleep(60)"), Limits(answer_seconds=0.05, late_seconds=0.05)
    )
    bad = [move.event for move in play(Oracle(RUN), [BY_NAME["cancel requested"]])]
    asked = 0
    while subject.last(RUN, [bad])[0] is not GIVEN_UP:
        asked += 1
        assert asked < 50
    assert subject.every(RUN, [bad]) == [[GIVEN_UP]]
    subject.close()


def test_stderr_is_drained_without_a_verdict_where_it_is_little() -> None:
    """More than a pipe holds over many events, and nothing hangs."""
    wrong = "os.write(2, b'x' * 40_000)"
    subject = ReducerProgram(program(wrong), Limits(stderr_bytes_max=1 << 18))
    bad = [move.event for move in play(Oracle(RUN), [BY_NAME["cancel requested"]])]
    shown = subject.last(RUN, [bad] * 40)
    assert {one["status"] for one in shown} == {"cancelling"}
    subject.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", ["close", "verdict", "forgotten"])
def test_no_process_is_left_behind(how: str, tmp_path: Path) -> None:
    """What a program started ends with it, however it ends."""
    children = tmp_path / "children"
    code = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(children)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
for line in sys.stdin:
    if {how == "verdict"} and "2" in line:
        sys.exit(1)
    print("{{}}", flush=True)
"""
    running = Program([sys.executable, "-c", code], Limits())
    assert list(running.ask([b"1"], first=True)) == [b"{}"]
    if how == "verdict":
        with pytest.raises(MisbehavedError, match="exit status 1"):
            list(running.ask([b"2"]))
    pids = [int(pid) for pid in children.read_text().split()]
    if how == "close":
        running.end()
    else:
        del running
    deadline = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in pids if is_alive(pid)] == []


def test_no_pipe_is_left_open() -> None:
    """Starting anew many times does not use up file descriptors."""
    subject = ReducerProgram(program("os._exit(3)"), QUICK)
    bad = [move.event for move in play(Oracle(RUN), [BY_NAME["cancel requested"]])]
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        subject.last(RUN, [bad])
    subject.close()
    assert len(list(Path("/dev/fd").iterdir())) <= before


def test_a_command_that_cannot_be_run_is_an_error() -> None:
    """At once, in one line that names it."""
    with pytest.raises(CannotStartError, match=r"no-such-program.*No such file"):
        ReducerProgram(["no-such-program"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('{"protocol": 2}', "version 2"),
        ('{"protocol": 1, "capabilities": ["flying"]}', "flying"),
        ('{"protocol": 1, "capabilities": "trace"}', "trace"),
    ],
)
def test_another_version_is_refused(answer: str, message: str) -> None:
    """What the program states is read, not guessed."""
    code = f"import sys\nfor line in sys.stdin: print({answer!r}, flush=True)"
    with pytest.raises(CannotStartError, match=message):
        ReducerProgram([sys.executable, "-c", code])


def test_a_program_that_knows_no_greeting_has_no_capability() -> None:
    """The minimum is open, feed and close."""
    code = """
import json, sys
from doneness.machine import Progress
for line in sys.stdin:
    q = json.loads(line)
    if q["op"] == "open":
        reducer = Progress(q["run"])
    elif q["op"] == "feed":
        reducer.feed(q["event"])
    elif q["op"] == "close":
        reducer.close_transport()
    else:
        sys.exit("no such op")
    print(json.dumps({"status": reducer.status}), flush=True)
"""
    subject = ReducerProgram([sys.executable, "-c", code], QUICK)
    moves = play(Oracle(RUN), [BY_NAME[one] for one in ("text", "cancel requested", "EOF")])
    events = [move.event for move in moves]
    assert subject.last(RUN, [events, events[:2]]) == [
        {"status": "unknown"},
        {"status": "cancelling"},
    ]
    assert subject.every(RUN, [events]) == [
        [{"status": "running"}, {"status": "cancelling"}, {"status": "unknown"}]
    ]
    subject.close()


def test_a_question_has_no_line_end_of_any_kind_inside() -> None:
    """Some readers of lines end one at U+0085, U+2028 or U+2029."""
    event = {"text": "a\x85b\u2028c\u2029d\r\n合"}
    line = json_of(event)
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == event


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("", "exited early before anything was asked"),
    ],
)
def test_a_program_that_ends_unasked_cannot_be_checked(code: str, said: str) -> None:
    """It never answered and never waited, so no stream could show anything of it."""
    with pytest.raises(CannotStartError) as raised:
        ReducerProgram([sys.executable, "-c", code], QUICK)
    assert said in str(raised.value)
    assert "by hand" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_program_that_ends_when_it_is_asked_is_judged() -> None:
    """It waited for its first line; that it does not answer is a finding like any other."""
    subject = ReducerProgram([sys.executable, "-c", "input(); raise SystemExit(3)"], QUICK)
    moves = play(Oracle(RUN), [BY_NAME["text"]])
    found = compare(subject, "some check", RUN, moves)
    assert found.lines[-1].shown["verdict of the program"] == Verdict.CRASHED
    subject.close()


def test_a_status_that_is_no_text_is_a_finding() -> None:
    """Whatever it is: a list cannot even be looked up."""

    class Lists(Progress):
        @property
        def status(self):
            return [super().status]

    subject = Adapted(PythonObject("Lists", Lists))
    found = compare(subject, "some check", RUN, play(Oracle(RUN), [BY_NAME["text"]]))
    assert "shows the status ['running'], which the contract does not have" in found.table()
