"""What a newcomer stumbles over is answered with what was expected and what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from doneness.diagrams.commands.diagram import command as diagram
from doneness.diagrams.difference import RevisionError, _git
from doneness.generators.commands.catalogue import command as catalogue
from doneness.generators.commands.fixture import command as fixture
from doneness.generators.commands.shrink import command as shrink
from doneness.generators.commands.suite import command as suite
from doneness.machine.commands.frame import command as frame
from doneness.machine.commands.log import command as log
from doneness.machine.commands.replay import command as replay


def test_from_takes_a_file() -> None:
    """The name of a case is refused as such."""
    result = CliRunner().invoke(replay, ["normal", "--from", "chat"])
    assert result.exit_code == 2
    assert "--from takes a file" in result.output


def test_replay_explains_the_names_of_its_usage() -> None:
    """The usage says NAME and FILE, and so does the help."""
    assert "WHAT" not in CliRunner().invoke(replay, ["--help"]).output


def test_random_chunks_in_the_capitals_of_the_help() -> None:
    """The help shows RANDOM:SEED."""
    result = CliRunner().invoke(frame, ["--chunks", "RANDOM:7"], input="data: x\n\n")
    assert result.exit_code == 0


def test_frame_advises_its_own_option(tmp_path: Path) -> None:
    """Not the argument of the Python class."""
    file = tmp_path / "bin.dat"
    file.write_bytes(b"data: \xff\n\n")
    result = CliRunner().invoke(frame, [str(file)])
    assert result.exit_code == 2
    assert "--errors replace" in result.output
    assert "errors='replace'" not in result.output


def test_the_dots_of_the_advice_are_no_reason(tmp_path: Path) -> None:
    """The printed advice is completed, not copied."""
    arguments = ["keep", "case.json", "--reason", "…", "--into", str(tmp_path)]
    result = CliRunner().invoke(fixture, arguments)
    assert result.exit_code == 2
    assert "--reason: expected why the case is kept" in result.output


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"v": 1, "kind": "text.delta"}', "this is a log of envelopes; use `doneness replay`"),
        ('{"a": 1}', "no line is an event of the loop"),
    ],
)
def test_what_is_no_log_of_the_loop_is_refused(tmp_path: Path, line: str, told: str) -> None:
    """Rather than shown as events of an unknown type."""
    pytest.importorskip("rich", reason="the views are an extra")
    file = tmp_path / "run.jsonl"
    file.write_text(line + "\n", "utf-8")
    result = CliRunner().invoke(log, [str(file)])
    assert result.exit_code == 2
    assert told in result.output


def test_one_picture_goes_into_a_folder_that_exists(tmp_path: Path) -> None:
    """Under the name of its machine."""
    result = CliRunner().invoke(diagram, ["lifecycle", "-o", str(tmp_path), "--format", "mermaid"])
    assert result.exit_code == 0, result.output
    assert [file.name for file in tmp_path.iterdir()] == ["lifecycle.mmd"]


def test_a_log_where_a_case_is_wanted_is_called_a_log(tmp_path: Path) -> None:
    """With the command that shows one."""
    file = tmp_path / "big.jsonl"
    file.write_text('{"v": 1}\n{"v": 1}\n', "utf-8")
    result = CliRunner().invoke(diagram, ["--path", str(file)])
    assert result.exit_code == 2
    assert "a case is wanted here" in result.output


def test_a_revision_needs_a_repository(tmp_path: Path) -> None:
    """Git's own words do not say what to do."""
    if shutil.which("git") is None:
        pytest.skip("git is missing")
    with pytest.raises(RevisionError, match="is not a git repository, and a revision"):
        _git(tmp_path, "rev-parse", "--verify", "HEAD")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (suite, ["unfold", "--output"]),
        (catalogue, ["--into"]),
        (shrink, [__file__, "--subject", "no.such:thing", "--output"]),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    command, arguments, tmp_path
) -> None:
    """Below a file there can be no folder; elsewhere the folders are made."""
    (tmp_path / "file").touch()
    result = CliRunner().invoke(command, [*arguments, str(tmp_path / "file" / "below" / "out")])
    assert result.exit_code == 2
    assert f"Invalid value for '{arguments[-1]}'" in result.output
    assert "cannot be a folder: Not a directory" in " ".join(result.output.split())


def test_the_folders_of_an_output_are_made(tmp_path) -> None:
    """As for pictures."""
    there = tmp_path / "new" / "folder" / "suite.jsonl"
    result = CliRunner().invoke(suite, ["unfold", "--calls", "1", "--output", str(there)])
    assert result.exit_code == 0, result.output
    assert there.stat().st_size > 0


def test_a_file_that_cannot_be_used_is_named(tmp_path) -> None:
    """Without the number of the error."""
    (tmp_path / "file").touch()
    there = str(tmp_path / "file" / "below")
    program = "import sys; from doneness.machine.cli import main; main(sys.argv[1:])"
    asked = [sys.executable, "-c", program, "suite", "write", there]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Error: cannot use {there}: Not a directory\n"
