"""`doneness fixture`: from a found divergence to a case that is kept, and back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from doneness.fixtures.cases import load
from doneness.generators import keeping
from doneness.generators.checks.sharing import check_sharing
from doneness.generators.commands.fixture import command
from doneness.generators.divergence import shrink
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME
from doneness.generators.subject import PythonSubject
from doneness.generators.subjects.opening import open_subject
from doneness.machine import Progress

NAMES = ("text", "cancel requested", "succeeded with text", "EOF")


class SuccessAfterCancel(Progress):
    """Forgets cancel requests."""

    def feed(self, event: object) -> None:
        if not (isinstance(event, dict) and event.get("kind") == "cancel.requested"):
            super().feed(event)


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def found(tmp_path: Path) -> Path:
    """A case as a failed check writes it."""
    subject = PythonSubject("success after cancel", SuccessAfterCancel)
    divergence = shrink(subject, "exploration", RUN, [BY_NAME[name] for name in NAMES])
    assert divergence is not None
    path = divergence.write(tmp_path / "found")
    assert path is not None
    return path


def test_a_divergence_is_kept_with_what_the_declaration_expects(
    found: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    done = call("keep", found, "--name", "late_win", "--reason", "why not", "--into", kept)
    assert done.exit_code == 0
    [case] = load(kept / "late_win.json")
    assert case.reason == "why not"
    assert case.expected_steps == ("cancelling",)
    assert case.expected_final == "unknown"
    assert case.assertions["cancel_requested"] is True
    assert case.found_by == "exploration"
    table = done.output.splitlines()
    assert table[0] == "late_win: why not"
    assert table[2].split()[0] == "1"
    assert table[2].split()[-2] == "cancelling"
    assert f"doneness fixture run {kept / 'late_win.json'}" in done.output


def test_a_kept_case_is_listed_run_and_dropped(found: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    call("keep", found, "--name", "one", "--reason", "first", "--into", kept)
    assert "one" in call("list", "--in", kept).output
    assert "first" in call("list", "--in", kept).output
    for what in (["one", "--in", kept], ["all", "--in", kept], [kept / "one.json"]):
        done = call("run", *what)
        assert (done.exit_code, done.output) == (0, "FIXED   one\n")
    assert call("drop", "one", "--in", kept).exit_code == 0
    assert not (kept / "one.json").exists()
    assert call("list", "--in", kept).output == "no case is kept\n"
    assert call("run", "one", "--in", kept).exit_code == 2


@pytest.mark.parametrize("option", [[], ["all", "--in"]], ids=["named", "instead of the kept"])
def test_a_folder_without_cases_is_nothing_to_run(tmp_path: Path, option: list[str]) -> None:
    """Nothing that ran is not the same as nothing that failed."""
    result = CliRunner().invoke(command, ["run", *option, str(tmp_path)])
    assert result.exit_code == 2
    assert "holds no case" in result.output


def test_a_case_that_expects_what_is_not_declared_fails(tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    case = {
        "name": "wrong",
        "run": "r",
        "events": [None, 7],
        "expected_steps": ["unknown", "done"],
        "assertions": {"issues": []},
    }
    file.write_text(json.dumps(case))
    done = call("run", file)
    assert done.exit_code == 1
    assert "step 2: the case expects done, the declaration says unknown" in done.output
    assert "issues: the case expects [], the declaration says" in done.output
    shown = call("keep", file, "--reason", "x", "--into", tmp_path / "kept")
    assert "!= done in the file" in shown.output
    assert call("run", tmp_path / "kept" / "wrong.json").exit_code == 0


def test_a_case_on_which_the_reducer_fails_shows_the_divergence(
    found: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = PythonSubject("success after cancel", SuccessAfterCancel)
    monkeypatch.setattr("doneness.generators.commands.fixture.own_subjects", lambda: (subject,))
    done = call("run", found)
    assert done.exit_code == 1
    assert done.output.startswith("FAILED  exploration_cancel_requested\n")
    assert "cancel_requested: declared True, shown False" in done.output


BROKEN = """
from doneness.machine import Progress

class Forgetful(Progress):
    def feed(self, event):
        if not (isinstance(event, dict) and event.get("kind") == "cancel.requested"):
            super().feed(event)

class Falling(Progress):
    def feed(self, event):
        raise RuntimeError("\\x1b[2J")
"""

KEEPING = """
from doneness.machine import Progress

class Keeping(Progress):
    first = {}

    def feed(self, event):
        super().feed(event)
        self.first = self.first or event

    @property
    def closed(self):
        return super().closed or "more" in self.first
"""


@pytest.mark.parametrize(
    ("factory", "answer"),
    [("machine:Progress", "FIXED"), ("Forgetful", "FAILED"), ("Falling", "ERROR")],
)
def test_a_found_case_answers_fixed_failed_or_error(
    found: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factory: str, answer: str
) -> None:
    (tmp_path / "broken_reducers.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    spec = f"doneness.{factory}" if ":" in factory else f"broken_reducers:{factory}"
    for what in (found, found.parent):
        done = call("run", what, "--subject", spec)
        assert done.exit_code == (answer != "FIXED")
        assert done.output.startswith(f"{answer:<6}  exploration_cancel_requested\n")
        assert done.output.replace("\n", "").isprintable()
        # A case that was found, and is fixed, is offered: to be kept, or to be removed.
        assert (f"doneness fixture keep {found}" in done.output) == (answer == "FIXED")
        assert (f"rm {found}" in done.output) == (answer == "FIXED")


def test_a_case_of_sharing_is_run_as_it_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events alone show nothing: it is what their owner does with them afterwards."""
    (tmp_path / "keeping_reducers.py").write_text(KEEPING)
    monkeypatch.syspath_prepend(tmp_path)
    subject = open_subject("keeping_reducers:Keeping")
    _, divergence = check_sharing(subject, "spoilt events") or (0, None)
    assert divergence is not None
    path = divergence.write(tmp_path)
    assert path is not None
    assert call("run", path).stdout.startswith("FIXED")
    assert call("run", path, "--subject", "keeping_reducers:Keeping").stdout.startswith("FAILED")


def test_a_status_map_is_of_a_subject(found: Path, tmp_path: Path) -> None:
    done = call("run", found, "--status-map", tmp_path / "map.json")
    assert (done.exit_code, "name one (--subject)" in done.stderr) == (2, True)


def test_a_subject_that_there_is_not(found: Path) -> None:
    done = call("run", found, "--subject", "no.such:thing")
    assert done.exit_code == 2
    assert done.output.count("\n") == 1


def test_a_wheel_has_no_folder_to_keep_cases_in(
    found: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keeping.project_folder() is not None
    site = tmp_path / "site-packages" / "doneness" / "fixtures"
    monkeypatch.setattr(keeping, "files", lambda _package: site)
    done = call("keep", found, "--reason", "x")
    assert done.exit_code == 2
    assert "(--into)" in done.output
    assert not site.exists()
    assert call("drop", "x").exit_code == 2


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "../up"}, "will not do"),
        ({"name": "Ünder"}, "will not do"),
        ({"name": "normal"}, "there is a case of this name"),
        ({"reason": ""}, "expected a reason"),
        ({"reason": "two\nlines"}, "expected a reason"),
        ({"events": 1}, "key events: expected an array"),
    ],
)
def test_what_cannot_be_kept(tmp_path: Path, change: dict[str, object], complaint: str) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps({"name": "n", "run": "r", "events": [], "reason": "y", **change}))
    done = call("keep", file, "--into", tmp_path / "kept")
    assert done.exit_code == 2
    assert complaint in done.output
    assert done.output.count("\n") == 1
    assert not (tmp_path / "kept").exists()


def test_a_name_is_taken_once(found: Path, tmp_path: Path) -> None:
    arguments = ("keep", found, "--name", "n", "--reason", "x", "--into", tmp_path / "kept")
    assert call(*arguments).exit_code == 0
    assert call(*arguments).exit_code == 2


def test_what_is_kept_is_ascii_and_one_event_a_line(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    events = [{"a": "合\x7f\u202e"}, None, "\ud800"]
    file.write_text(json.dumps({"name": "n", "run": "合", "events": events, "reason": "\x1b"}))
    shown = call("keep", file, "--into", tmp_path / "kept")
    text = (tmp_path / "kept" / "n.json").read_bytes()
    assert shown.output.replace("\n", "").isprintable()
    assert text.isascii()
    assert b"\x7f" not in text
    assert text.splitlines()[4:9] == [
        b' "events": [',
        b'  {"a": "\\u5408\\u007f\\u202e"},',
        b"  null,",
        b'  "\\ud800"',
        b" ],",
    ]


def test_it_works_in_an_ascii_locale(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    event = {"run": "合", "id": "1", "seq": 1, "kind": "text.delta", "data": {"text": "合成"}}
    case = {"name": "n", "run": "合", "events": [event], "reason": "字"}
    file.write_text(json.dumps(case, ensure_ascii=False), "utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    program = [sys.executable, "-c", "from doneness.machine.cli import main; main()", "fixture"]
    for arguments in (["keep", str(file), "--into", "kept"], ["list", "--in", "kept"]):
        done = subprocess.run(
            [*program, *arguments],
            cwd=tmp_path,
            env={**os.environ, **locale},
            capture_output=True,
            check=True,
        )
        assert "字" in done.stdout.decode("utf-8")
    [kept] = load(tmp_path / "kept" / "n.json")
    assert kept.assertions["text"] == "合成"
