"""The 30 cases in every mode of the interpreter: an ASCII locale, and without assertions."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from importlib.resources import files
from doneness.machine import Progress

folder = files("doneness.fixtures") / "progress"
labels = json.loads((folder / "labels.zh.json").read_text("utf-8"))
cases = json.loads((folder / "cases.json").read_text("utf-8"))
cases = cases["cases"] if isinstance(cases, dict) else cases
wrong = 0
for case in cases:
    progress = Progress(case["run"])
    for event, expected in zip(case["events"], case["expected_steps"]):
        progress.feed(event) if event is not None else progress.close_transport()
        wrong += progress.status != expected or progress.message != labels[expected]
print(len(cases), "cases,", wrong, "wrong,", sys.flags.optimize)
"""


@pytest.mark.parametrize("flags", [[], ["-O"], ["-OO"]], ids=["plain", "O", "OO"])
def test_an_ascii_locale_changes_nothing(flags: list[str]) -> None:
    """Files are read as UTF-8 whatever the locale, and no check hides in an assertion."""
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, *flags, "-c", PROGRAM],
        env={**os.environ, **ascii_only},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("30 cases, 0 wrong")
