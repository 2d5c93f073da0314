"""The command `doneness` where its streams are closed or full, as services leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = [sys.executable, "-c", "from doneness.machine.cli import main; main()"]
FULL = "/dev/full"


def in_shell(redirected: str, *arguments: str) -> tuple[int, str]:
    """Exit status and standard error of a run with its streams redirected by a shell."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirected}', *MAIN, *arguments],
        check=False,
        capture_output=True,
        timeout=60,
    )
    return done.returncode, done.stderr.decode()


def test_a_closed_standard_input_holds_nothing() -> None:
    """As an empty one does."""
    status, said = in_shell("<&-", "replay", "-")
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("Error: standard input: holds nothing")


@pytest.mark.parametrize("redirected", [">&-", "2>&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize("arguments", [["replay", "normal"], ["fixture", "list"], ["--help"]])
def test_a_closed_standard_output_is_no_error(redirected: str, arguments: list[str]) -> None:
    """What is printed goes nowhere."""
    assert in_shell(redirected, *arguments) == (0, "")


@pytest.mark.skipif(not Path(FULL).exists(), reason="the system has no device that is full")
@pytest.mark.parametrize(
    "arguments", [["replay", "normal"], ["fixture", "list"], ["sequence", "normal"], ["--help"]]
)
def test_a_full_disk_is_one_clear_line(arguments: list[str]) -> None:
    """No traceback, and none at exit."""
    status, said = in_shell(f"> {FULL}", *arguments)
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("Error: ")
    assert "No space left" in said


@pytest.mark.parametrize(("run", "why"), [("", "empty"), (b"\xff", "UTF-8")])
def test_a_run_that_nothing_can_be_bound_to_is_refused(run: str | bytes, why: str) -> None:
    """One clear line, not a traceback of the reducer."""
    status, said = in_shell("", "replay", "-", "--run", os.fsdecode(run))
    assert status == 2
    assert "Invalid value for '--run'" in said
    assert why in said
    assert "Traceback" not in said
