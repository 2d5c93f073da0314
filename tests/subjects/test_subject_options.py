"""The options that say whose reducer is checked, and what is known of it: real runs of pytest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from doneness.generators.subjects import (
    OptionError,
    SubjectError,
    open_framing,
    open_subject,
    read_expected_failures,
    read_statuses,
    supported_kinds,
)
from doneness.spec.vocabulary import Kind

THEIRS = '''
"""Somebody else's reducers."""
import enum
import os
import time
from doneness.machine import Progress as Good, SSEDecoder


class Words(enum.Enum):
    THINKING = "thinking"


class StatusOnly:
    """Shows its status alone, as a method, under its own names."""

    def __init__(self, run):
        self._inner = Good(run)

    def feed(self, event):
        self._inner.feed(event)

    def close(self):
        self._inner.close_transport()

    def status(self):
        shown = str(self._inner.status)
        return {"running": Words.THINKING, "cancelling": "stopping"}.get(shown, shown)


class Eager(Good):
    """Done as soon as the run succeeded."""

    @property
    def status(self):
        shown = super().status
        return "done" if shown == "checking" else shown


class NoApprovals(Good):
    """Never heard of approvals, nor of responses that end badly."""

    def feed(self, event):
        if isinstance(event, dict) and event.get("kind") in ("approval.wait", "model.unresolved"):
            event = {**event, "kind": "unheard of"}
        super().feed(event)


class Spoiler(Good):
    """Spoils the events that it is given."""

    def feed(self, event):
        super().feed(event)
        if isinstance(event, dict):
            event.get("data", {}) and event["data"].clear()
            event.clear()


class Spins(Good):
    """Never comes back from a cancel request."""

    def feed(self, event):
        while isinstance(event, dict) and event.get("kind") == "cancel.requested":
            pass
        super().feed(event)


class Quits(Good):
    """Ends the whole process, or tries to."""

    def feed(self, event):
        if isinstance(event, dict) and event.get("kind") == "cancel.requested":
            raise SystemExit(0)
        if isinstance(event, dict) and event.get("kind") == "approval.wait":
            os._exit(3)
        super().feed(event)


class Replays:
    """Keeps a log, and goes through all of it whenever it is asked; not quickly."""

    def __init__(self, run):
        self.run, self.log = run, []

    def feed(self, event):
        self.log.append(event)

    def close(self):
        self.log.append(None)

    @property
    def status(self):
        reducer = Good(self.run)
        for event in self.log * 60:
            reducer.feed(event)
        return reducer.status


def broken(run):
    raise RuntimeError("no database")


def nothing(run):
    return object()


class EagerDecoder(SSEDecoder):
    """Invents an event at the end."""

    def finish(self):
        from doneness.machine.framing import Event
        return [*super().finish(), Event("x", "message", "")]

number = 1
'''


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "theirs.py").write_text(THEIRS, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    return tmp_path


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def check(theirs: Path) -> Run:
    """Run pytest on the contract's tests, in a project of somebody's own."""

    def run(*arguments: str, status: int, tests: str = "doneness.contract") -> str:
        command = [sys.executable, "-m", "pytest", "--pyargs", tests, "-m", "model"]
        command += ["--import-mode=importlib", "-c", os.devnull, "--rootdir", str(theirs)]
        command += ["-p", "no:cacheprovider", "--model-seed=1", "--model-examples=5", *arguments]
        env = {**os.environ, "PYTHONPATH": str(theirs), "COLUMNS": "200"}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=theirs, env=env, timeout=300, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == status, said
        return said

    return run


def test_the_run_is_repeated_as_it_was_called(check: Run, theirs: Path) -> None:
    """By the same command, with the seed and what else decides what is tried."""
    said = check("--subject=theirs:Eager", "-k", "property or p1", status=1)
    options = "-m model --subject=theirs:Eager --model-seed 1 --model-examples 5"
    assert f"repeat with: pytest --pyargs doneness.contract {options}\n" in said
    assert "doneness fixture run .doneness/divergences/property_p1_succeeded" in said
    done = subprocess.run(
        [
            Path(sysconfig.get_path("scripts")) / "doneness",
            "check",
            "--subject=theirs:Eager",
            "--seed=1",
            "--examples=5",
        ],
        capture_output=True,
        text=True,
        cwd=theirs,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert "repeat with: doneness check --subject=theirs:Eager --seed 1 --examples 5\n" in (
        done.stdout
    )


def test_help_shows_all_options_under_one_heading(check: Run) -> None:
    """Whoever looks for them finds them together."""
    text = check("--help", status=0)
    [section] = re.findall(r"^doneness: .*?:\n(.*?)^\S", text, re.MULTILINE | re.DOTALL)
    for option in ("subject", "framing-subject", "status-map", "supports", "expect-failures"):
        assert f"  --{option}=" in section
    assert "--model-seed" in section


def test_a_wrong_reducer_fails_with_its_shortest_stream(check: Run) -> None:
    """And the command that repeats it names the subject."""
    said = check("--subject=theirs:Eager", "-k", "lifecycle or random", status=1)
    assert "left out: random data, since theirs:Eager has failed already" in said
    assert re.search(r"> +1 +succeeded with text +checking +done", said)
    assert "--subject=theirs:Eager --model-seed 1" in said


def test_a_slow_reducer_is_told_so_and_not_explored_for_long(check: Run) -> None:
    """What there was no time for is said, and short streams are tried all the same."""
    said = check("--subject=theirs:Replays", "-k", "linear or numbers or calls", status=1)
    assert "read after each event, 8 times the events take" in said
    assert "left out: the rest of exploration/numbers, since theirs:Replays has failed" in said
    assert "left out: streams beyond exploration, since theirs:Replays has failed already" in said
    assert "streams/numbers" in said


def test_only_checks_of_what_was_named_are_run(check: Run) -> None:
    """A reducer that is named is not a reason to check decoders, nor our own reducer."""
    said = check("--subject=theirs:Eager", "--collect-only", "-q", status=0)
    assert "theirs:Eager" in said
    assert "SSEDecoder" not in said
    assert "doneness.machine:Progress" not in said
    said = check("--framing-subject=theirs:EagerDecoder", "--collect-only", "-q", status=0)
    assert "theirs:EagerDecoder" in said
    assert "exploration" not in said


def test_names_of_its_own_and_a_status_alone(check: Run, theirs: Path) -> None:
    """With the map it passes, and what it does not show is reported; without it it fails."""
    statuses = theirs / "names.json"
    statuses.write_text('{"thinking": "running", "stopping": "cancelling"}', "utf-8")
    chosen = "evidence or p1 or p2"
    said = check("--subject=theirs:StatusOnly", f"--status-map={statuses}", "-k", chosen, status=0)
    assert "left out: the subject does not show issues" in said
    said = check("--subject=theirs:StatusOnly", "-k", "evidence", status=1)
    assert "'thinking', which the contract does not have" in said
    assert "--status-map" in said


def test_what_it_lacks_is_left_out_and_said(check: Run) -> None:
    """Kinds that it does not know are reported, never silently passed."""
    options = ("--subject=theirs:NoApprovals", "-k", "payloads or p2")
    said = check(*options, "--supports=-approval.wait,-model.unresolved", status=0)
    assert re.search(
        r"left out: approval\.wait: it does not know this kind \([\d,]+ events\)", said
    )
    assert "left out: model.unresolved: it does not know this kind" in said
    said = check(*options, status=1)
    assert re.search(r"> +1 +approval wait +waiting +unknown", said)
    assert "left out: model.unresolved" in said  # an extension: it was asked first
    said = check(*options, "--supports=all", status=1)
    assert "left out: model.unresolved" not in said


def test_expected_failures(check: Run, theirs: Path) -> None:
    """What is known to fail may; what no longer fails, or is no check, fails."""
    known = theirs / "known.json"
    subject = ("--subject=theirs:Eager", f"--expect-failures={known}", "-rx")
    known.write_text(json.dumps({"exploration/lifecycle": "ticket 12"}), "utf-8")
    said = check(*subject, "-k", "exploration and lifecycle", status=0)
    assert "1 xfailed" in said
    assert "ticket 12" in said
    known.write_text(json.dumps({"exploration/evidence": "ticket 13"}), "utf-8")
    said = check(*subject, "-k", "exploration and evidence", status=1)
    assert "stale: listed in --expect-failures (ticket 13), and it does not fail" in said
    known.write_text('{"test_p1_done_is_earned": "c", "no such check": "d"}', "utf-8")
    said = check(*subject, tests="doneness.contract.test_properties", status=1)
    assert "1 xfailed" in said
    assert " failed" not in said
    assert (
        "stale: 'no such check' is listed in --expect-failures, and no such check was run" in said
    )


def test_under_xdist_the_same_is_said(check: Run, theirs: Path) -> None:
    """Each worker has its own subject; the report is one."""
    known = theirs / "known.json"
    known.write_text('{"property/P1": "ticket 12", "no such check": "d"}', "utf-8")
    said = check(
        "-n2",
        "--subject=theirs:Eager",
        f"--expect-failures={known}",
        "--supports=-approval.wait",
        tests="doneness.contract.test_properties",
        status=1,
    )
    assert "xfailed" in said
    assert "left out: approval.wait" in said
    assert "stale: 'no such check'" in said


WRONG_OPTIONS = {
    "--subject=theirs": "expected package.module:factory or exec:COMMAND",
    "--subject=no_such_module:x": "cannot import no_such_module",
    "--subject=theirs:Eeger": "did you mean Eager?",
    "--subject=theirs:number": "expected a callable, got int",
    "--subject=theirs:broken": "raised RuntimeError: no database",
    "--subject=theirs:nothing": "lacks feed, status, close_transport (or close)",
    "--subject=exec:": "got no command",
    "--subject=exec:no-such-program": "cannot run 'no-such-program'",
    "--subject=exec:'": "No closing quotation",
    "--framing-subject=theirs:nothing": "theirs:nothing",
    "--supports=approval.weight": "did you mean approval.wait?",
    "--status-map=no-such-file": "no-such-file: No such file",
    "--expect-failures=no-such-file": "no-such-file: No such file",
    "--subject-deadline=0": "expected seconds",
    "--model-examples=0": "expected at least 1, got 0",
    "--model-html=no-such-folder/page.html": "there is no folder no-such-folder",
    "--model-sarif=/": "expected a file",
}


def test_a_wrong_option_is_answered_in_one_line(theirs: Path) -> None:
    """What, where, what was expected; no traceback; the status of wrong usage."""
    script = """
import json, sys, pytest
for option in json.loads(sys.argv[1]):
    status = pytest.main(["-c", "/dev/null", "-p", "no:cacheprovider", option])
    print("status", int(status), file=sys.stderr, flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(list(WRONG_OPTIONS))],
        capture_output=True,
        text=True,
        cwd=theirs,
        timeout=120,
        check=True,
    )
    assert "Traceback" not in done.stderr + done.stdout
    answers = re.findall(r"^ERROR: (.*)\n+status (\d+)$", done.stderr, re.MULTILINE)
    assert len(answers) == len(WRONG_OPTIONS), done.stderr
    # With workers it is said once, and by the controller.
    command = [sys.executable, "-m", "pytest", "-n2", "-c", os.devnull, "--subject=theirs:Eeger"]
    distributed = subprocess.run(
        command, capture_output=True, text=True, cwd=theirs, timeout=120, check=False
    )
    assert (distributed.returncode, distributed.stderr.count("did you mean Eager?")) == (4, 1)
    for (option, message), (line, status) in zip(WRONG_OPTIONS.items(), answers, strict=True):
        assert line.startswith(option.partition("=")[0])
        assert message in line
        assert status == "4"


def test_files_of_options(tmp_path: Path) -> None:
    """Each says where it is wrong."""
    file = tmp_path / "file.json"
    for text, message in [
        ('{"a": "b"', "line 1, column"),
        ("[]", "a JSON object of texts"),
        ('{"a": "nope"}', "'a': expected one of running"),
        ('{"a": 1}', "'a': expected one of running"),
        ('{"a": "done", "a": "failed"}', "line 1"),
    ]:
        file.write_text(text, "utf-8")
        with pytest.raises(OptionError) as error:
            read_statuses(file)
        assert message in str(error.value)
        assert str(file) in str(error.value)
    for text in ('{"a": ""}', '{"a": 1}', '{"a": null}'):
        file.write_text(text, "utf-8")
        with pytest.raises(OptionError, match="expected the reason"):
            read_expected_failures(file)
    file.write_bytes(b"\xff")
    with pytest.raises(OptionError, match="UTF-8"):
        read_statuses(file)
    file.write_text('{"a": "done", "b": "done"}', "utf-8")
    assert read_statuses(file) == {"a": "done", "b": "done"}


def test_supported_kinds() -> None:
    """Those that are named, or all but those."""
    every = {str(kind) for kind in Kind}
    assert supported_kinds("all") == every
    assert supported_kinds("-approval.wait, -cancel.requested") == every - {
        "approval.wait",
        "cancel.requested",
    }
    assert supported_kinds("text.delta,run.ended") == {"text.delta", "run.ended"}
    for wrong in ("", " , ", "nope", "-nope", "text.delta,-run.ended", "all,text.delta"):
        with pytest.raises(OptionError):
            supported_kinds(wrong)


@pytest.mark.usefixtures("theirs")
def test_python_subjects_are_not_trusted() -> None:
    """Spoilt events are its own copies; a loop without end and an exit are failures."""
    event = {"run": "a", "id": "a:1", "seq": 1, "kind": "text.delta", "data": {"text": "x"}}
    cancel = {"run": "a", "id": "a:2", "seq": 2, "kind": "cancel.requested", "data": {}}
    spoiler = open_subject("theirs:Spoiler")
    assert spoiler.last("a", [[event], [event]])[1]["text"] == "x"
    assert event["data"] == {"text": "x"}
    spins = open_subject("theirs:Spins", answer_seconds=0.3)
    [[first, second]] = spins.every("a", [[event, cancel]])
    assert first["status"] == "running"
    assert "hangs: no answer within 0.3 s" in second["failure"]
    quits = open_subject("theirs:Quits")
    [[first, second]] = quits.every("a", [[event, cancel]])
    assert second["failure"].startswith("raised SystemExit")
    [[first, second]] = quits.every("a", [[event, cancel | {"kind": "approval.wait"}]])
    assert second["failure"] == "raised EndsTheProcessError: os._exit(3)"
    assert os._exit.__module__ == os.name


def test_a_wrong_decoder_fails(check: Run) -> None:
    """With the chunks that show it."""
    said = check("--framing-subject=theirs:EagerDecoder", "-k", "p10", status=1)
    assert "theirs:EagerDecoder differs on" in said


def test_the_command_runs_the_same_checks(theirs: Path) -> None:
    """With its own statuses: 1 where a check failed, 2 where the subject cannot be used."""
    start = [sys.executable, "-c", "from doneness.machine.cli import main; main()", "check"]

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [*start, *arguments],
            capture_output=True,
            text=True,
            cwd=theirs,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    status, said = run(
        "--framing-subject", "theirs:EagerDecoder", "--junit", "junit.xml", "--seed", "7"
    )
    assert status == 1
    assert "theirs:EagerDecoder differs on" in said
    assert "doneness check --framing-subject=theirs:EagerDecoder --seed 7" in said
    assert 'failures="' in (theirs / "junit.xml").read_text("utf-8")
    status, said = run("--subject", "theirs:Eeger")
    assert status == 2
    assert "did you mean Eager?" in said
    assert "Traceback" not in said


@pytest.mark.usefixtures("theirs")
def test_errors_of_opening_are_of_one_kind() -> None:
    """Whoever opens a subject catches one error."""
    for wrong in ("theirs:nothing", "exec:no-such-program", "theirs"):
        with pytest.raises(SubjectError):
            open_subject(wrong)
        with pytest.raises(SubjectError):
            open_framing(wrong)


HOSTILE = """
import sys
from doneness.machine import Progress, SSEDecoder

class NoStatus(Progress):
    @property
    def status(self):
        raise RuntimeError("no status")

def ends(run):
    sys.exit(3)

class Spinning(SSEDecoder):
    def feed(self, chunk):
        while b"retry" in chunk:
            pass
        return super().feed(chunk)
"""


def test_an_import_or_a_factory_that_ends_the_program_is_a_bad_subject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and the program goes on."""
    (tmp_path / "hostile_ones.py").write_text(HOSTILE, "utf-8")
    (tmp_path / "ends_at_once.py").write_text("import sys\nsys.exit(3)\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for spec in ("ends_at_once:factory", "hostile_ones:ends"):
        with pytest.raises(SubjectError, match="SystemExit: 3"):
            open_subject(spec)


def test_a_status_that_raises_is_a_finding_and_no_bad_subject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there; what it says is for the checks."""
    (tmp_path / "hostile_ones.py").write_text(HOSTILE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "hostile_ones", raising=False)
    [shown] = open_subject("hostile_ones:NoStatus").last("r", [[None]])
    assert shown["failure"] == "raised RuntimeError: no status"


def test_a_decoder_that_spins_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On that stream; the next is tried with less patience."""
    (tmp_path / "hostile_ones.py").write_text(HOSTILE, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "hostile_ones", raising=False)
    decoder = open_framing("hostile_ones:Spinning", answer_seconds=0.3)
    good, bad, after = decoder.frame([[b"data: x\n\n"], [b"retry: 1\n"], [b"data: y\n\n"]])
    assert [event.data for event in good.all_events] == ["x"]
    assert "hangs" in str(bad.failure)
    assert "not run" in str(after.failure)
    [again] = decoder.frame([[b"data: y\n\n"]])
    assert [event.data for event in again.all_events] == ["y"]
