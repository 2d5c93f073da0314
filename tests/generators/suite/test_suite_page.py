"""The page on the complete suite: its program runs, and its figures are those of the files."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest

from doneness.generators.suite.documents import OBSERVATIONS, file_name, machine_of
from doneness.generators.suite.running import load
from doneness.generators.suite.unfolding import recorded

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "complete-suite.md").read_text("utf-8")
SUITES = files("doneness.fixtures") / "suite"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")


@pytest.fixture
def program(tmp_path):
    """The page's program in a folder, beside the module that it imports."""
    [source] = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "suite.mjs").write_text(source, "utf-8")
    module = ROOT / "machine" / "javascript" / "doneness.mjs"
    (tmp_path / "doneness.mjs").write_bytes(module.read_bytes())
    return tmp_path / "suite.mjs"


def outcome(program, calls, observed, extra):
    """Exit status and output of the program."""
    command = [NODE, program, SUITES / file_name(calls, observed), str(extra)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


@needs_node
@pytest.mark.parametrize(
    ("calls", "observed", "extra"),
    [(1, "snapshot", 0), (1, "status", 0), (2, "snapshot", 0), (1, "snapshot", 1)],
)
def test_its_program_passes_our_module(program, calls, observed, extra):
    """Every test of the product, those that can be read in several ways several times."""
    machine, cover, identifiers = machine_of(load(calls, observed))
    tests = sum(
        len(identifiers[machine.after((*access, *middle))])
        for access in cover
        for length in range(extra + 2)
        for middle in product(range(machine.inputs), repeat=length)
    )
    assert outcome(program, calls, observed, extra) == (0, f"passed {tests} tests\n")


@needs_node
@pytest.mark.parametrize(
    ("right", "wrong", "extra"),
    [
        ("this.#closed = true;", "this.#closed = false;", 0),
        ("this.#cancelRequested = true;", "this.#cancelRequested = this.#responses.length < 2;", 1),
    ],
)
def test_its_program_finds_faults(program, right, wrong, extra):
    """One changed line of the module; the second is one state more, which m = 0 need not find."""
    module = program.with_name("doneness.mjs")
    source = module.read_text("utf-8")
    assert source.count(right) == 1
    module.write_text(source.replace(right, wrong), "utf-8")
    for allowed in range(2):
        status, said = outcome(program, 1, "snapshot", allowed)
        assert status == (allowed >= extra)
        assert ("expected" in said) == (allowed >= extra)


def test_its_figures_are_those_of_the_files():
    """States, letters and tests of each."""
    for calls, observed in product((1, 2), OBSERVATIONS):
        found = load(calls, observed)
        complete = [
            one["tests"]
            for one in recorded()
            if (one["calls"], one["observed"]) == (calls, observed)
        ]
        figures = (
            len(found["states"]),
            len(found["alphabet"]),
            len(found["transition_cover"]),
            *complete,
        )
        shown = " | ".join(f"{figure:,}" for figure in figures)
        assert f"| `{file_name(calls, observed)}` | {shown} |" in PAGE
    largest = max(recorded(), key=lambda one: one["bytes"])
    assert f"{largest['bytes'] / 1e6:.0f} MB in {largest['events']:,} events" in PAGE
