"""`doneness shrink`: a recorded log becomes a case file; nothing private stays on request."""

from __future__ import annotations

import json
from itertools import repeat, takewhile
from pathlib import Path

import pytest
from click.testing import CliRunner

from doneness.fixtures.cases import load
from doneness.generators.commands.shrink import command
from doneness.generators.still_shows import GivenUpError, breaks, differs
from doneness.generators.subjects import open_subject
from doneness.generators.subjects.program import SLOW_MAX
from doneness.machine import Producer

WRONG = """
from doneness.machine import Progress

class SaysDone(Progress):
    @property
    def status(self):
        return "done" if super().status == "cancelled" else super().status

class WrongOnce(Progress):
    times = 0

    def close_transport(self):
        super().close_transport()
        WrongOnce.times += 1

    @property
    def closed(self):
        return WrongOnce.times != 1 and super().closed

class IsNotRead(SaysDone):
    @property
    def text(self):
        raise AssertionError("nobody needs that")

class OnlyStatus:
    def __init__(self, run):
        self.reducer = Progress(run)

    def feed(self, event):
        if event["kind"] == "run.ended":
            raise RuntimeError
        self.reducer.feed(event)

    def close(self):
        self.reducer.close_transport()

    @property
    def status(self):
        return self.reducer.status

class RaisesAtTheEnd(OnlyStatus):
    @property
    def issues(self):
        return self.reducer.issues

class Hangs(Progress):
    def feed(self, event):
        while True:
            pass
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of a real run that was cancelled, and a reducer that shows it as done."""
    host = Producer("private-run")
    events = [host.emit("text.delta", text=f"secret {n}") for n in range(6_000)]
    events += [host.emit("cancel.requested")]
    events += [host.emit("run.ended", outcome="cancelled", final_text="secret")]
    (tmp_path / "says_done.py").write_text(WRONG, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    return path


@pytest.mark.parametrize("by", [[], ["--property", "P1"]], ids=["difference", "property"])
def test_a_log_becomes_a_case_of_one_event(log: Path, by: list[str]) -> None:
    """It is minimal, legal, neutral, and written as a case that loads."""
    chosen = ["--subject", "says_done:SaysDone", "--neutral", *by]
    done = CliRunner().invoke(command, [str(log), *chosen])
    assert done.exit_code == 1, done.output
    [case] = load(log.with_suffix(".case.json"))
    assert [event["kind"] for event in case.events if event] == ["run.ended"]
    assert "secret" not in log.with_suffix(".case.json").read_text("utf-8")
    assert "case.json --subject=says_done:SaysDone\n" in done.output


def test_a_log_on_which_nothing_is_wrong_is_left_alone(log: Path) -> None:
    """Exit status 0, and no file."""
    done = CliRunner().invoke(command, [str(log)])
    assert (done.exit_code, log.with_suffix(".case.json").exists()) == (0, False)


def test_a_mark_before_the_first_line_is_no_part_of_it(log: Path) -> None:
    """As some editors write files, and as `doneness replay` reads them."""
    log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes())
    result = CliRunner().invoke(command, [str(log), "--subject", "says_done:SaysDone"])
    assert result.exit_code == 1, result.output
    assert len(load(log.with_suffix(".case.json"))[0].events) == 1


def test_a_bad_log_is_one_clear_line(log: Path) -> None:
    """File, line and what was expected; exit status 2."""
    log.write_text('{"run": "r"}\n{"run"\n', "utf-8")
    done = CliRunner().invoke(command, [str(log)])
    assert done.exit_code == 2
    assert "line 2: expected JSON" in done.stderr


def test_a_run_that_nothing_can_be_bound_to_is_passed_over(log: Path) -> None:
    """Neither the log nor the option may name one."""
    log.write_text('{"run": "\\ud800", "id": "a", "seq": 1, "kind": "k", "data": {}}\n', "utf-8")
    done = CliRunner().invoke(command, [str(log)])
    assert (done.exit_code, "no envelope names a run" in done.stderr) == (2, True)
    done = CliRunner().invoke(command, [str(log), "--run", ""])
    assert (done.exit_code, "'--run': run: expected the id" in done.stderr) == (2, True)


def test_what_is_not_shown_again_is_not_written(log: Path) -> None:
    """A case that another look at it calls fixed would be thrown away, and the fault with it."""
    done = CliRunner().invoke(command, [str(log), "--subject", "says_done:WrongOnce"])
    assert (done.exit_code, log.with_suffix(".case.json").exists()) == (2, False)
    assert "do not show it again" in done.stderr


def test_a_property_reads_what_it_is_about_alone(log: Path) -> None:
    """The text so far, read after each event of a long log, would fill any memory."""
    asked = [str(log), "--property", "P1", "--subject", "says_done:IsNotRead"]
    assert CliRunner().invoke(command, asked).exit_code == 1
    [case] = load(log.with_suffix(".case.json"))
    assert [event["kind"] for event in case.events if event] == ["run.ended"]


def test_a_property_of_what_is_not_shown_is_refused(log: Path) -> None:
    """In one line that says what is missing."""
    asked = [str(log), "--property", "P2", "--subject", "says_done:OnlyStatus"]
    done = CliRunner().invoke(command, asked)
    assert done.exit_code == 2
    assert "P2 is about issues, which says_done:OnlyStatus does not show" in done.stderr


def test_where_a_subject_raises_other_properties_say_nothing(log: Path) -> None:
    """Only P8 judges that."""
    asked = [str(log), "--subject", "says_done:RaisesAtTheEnd", "--property"]
    assert CliRunner().invoke(command, [*asked, "P2"]).exit_code == 0
    assert CliRunner().invoke(command, [*asked, "P8"]).exit_code == 1


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("rule", [None, "P8"])
def test_a_subject_that_is_given_up_says_nothing_of_a_stream(rule: str | None) -> None:
    """It neither fails nor passes."""
    subject = open_subject("says_done:Hangs", answer_seconds=0.05)
    shows = breaks(subject, "r", rule) if rule else differs(subject, "r")
    event = Producer("r").emit("text.delta", text="x")
    assert shows([event])
    with pytest.raises(GivenUpError, match="given up"):
        list(takewhile(shows, repeat([event], SLOW_MAX)))
