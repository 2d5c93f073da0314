"""Every hand-written case has its kill: one changed line of the reducer that turns it red.

A case that no change of the reducer could turn red would prove nothing.
"""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from doneness.fixtures.cases import every
from doneness.generators.mutants.loading import loaded, source_of

KILLS = json.loads((files("doneness.fixtures") / "kills" / "progress.json").read_text("utf-8"))
CASES = {case.name: case for case in every(("progress",))}


def is_red(progress_class, case):
    """Whether a reducer fails a case: a step, the end, or an asserted field."""
    try:
        progress, shown = progress_class(case.run), []
        for event in case.events:
            progress.feed(event)
            shown.append(str(progress.status))
        progress.close_transport()
        asserted = {name: getattr(progress, name) for name in case.assertions}
    except Exception:  # noqa: BLE001 # a reducer that raises fails the case, whatever it raises
        return True
    return (shown, progress.status, asserted) != (
        list(case.expected_steps),
        case.expected_final,
        case.assertions,
    )


@pytest.mark.parametrize("kill", KILLS, ids=lambda kill: kill["case"])
def test_the_kill_turns_its_case_red(kill):
    """The case passes as things are, and fails with the line changed."""
    module = kill["file"].removeprefix("machine/").removesuffix(".py")
    lines = source_of(module).split("\n")
    [place] = [number for number, line in enumerate(lines) if line.strip() == kill["line"]]
    indented = lines[place].removesuffix(kill["line"])
    changed = "\n".join([*lines[:place], indented + kill["becomes"], *lines[place + 1 :]])
    case = CASES[kill["case"]]
    with loaded({}) as machine:
        assert not is_red(machine.reducer.Progress, case)
    with loaded({module: compile(changed, kill["file"], "exec")}) as machine:
        assert is_red(machine.reducer.Progress, case)


def test_each_case_has_one():
    """None is left out."""
    assert sorted(kill["case"] for kill in KILLS) == sorted(CASES)
