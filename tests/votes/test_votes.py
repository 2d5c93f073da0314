"""Independent checkers, on models made from the declared tables, vote as our exploration does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from doneness.generators.exploration import Exploration, explore
from doneness.generators.votes import explorer, own, promela, prover
from doneness.generators.votes.properties import (
    FALSE_CONTROL,
    MEANINGS,
    PROPERTIES,
    Property,
    Vote,
    fits,
)
from doneness.generators.votes.system import CALLS, VARIABLES, Command, commands
from doneness.spec.lifecycle import LIFECYCLE, SUCCEEDED
from doneness.spec.table import Declaration

ASKED = [*PROPERTIES, FALSE_CONTROL]
Checker = Callable[[list[Command], list[Property]], Vote]


@pytest.fixture(scope="module")
def ours() -> Vote:
    return own.vote(ASKED)


@pytest.fixture(params=["SPIN", "minicheck", "z3"])
def checker(request: pytest.FixtureRequest, tmp_path: Path) -> Checker:
    if request.param == "SPIN":
        if promela.missing():
            pytest.skip(f"not installed: {', '.join(promela.missing())}")
        return lambda system, asked: promela.vote(system, asked, tmp_path)
    if request.param == "minicheck":
        pytest.importorskip("minicheck", reason="minicheck is not installed")
        return explorer.vote
    pytest.importorskip("z3", reason="z3-solver is not installed")
    return lambda system, asked: prover.vote(system, asked, MEANINGS)


@pytest.fixture(scope="module")
def explored() -> Exploration:
    return explore(None, own.LAYER)


def test_our_own_vote_is_that_of_the_exploration(ours: Vote, explored: Exploration) -> None:
    """The count is what `explore` finds under the same abstraction, and all properties hold."""
    assert explored.complete
    assert ours.states == explored.states
    assert ours.verdicts == {**{one.name: True for one in PROPERTIES}, FALSE_CONTROL.name: False}


def test_the_page_on_the_checks_has_the_count(ours: Vote) -> None:
    page = (Path(__file__).parents[2] / "docs" / "checks.md").read_text("utf-8")
    assert f"they count {ours.states:,} joint states" in page


def test_every_row_of_the_table_is_in_the_alphabet(explored: Exploration) -> None:
    """The votes are on the whole table: the few events chosen make every row fire."""
    assert explored.rows.keys() == set(range(len(LIFECYCLE.rows)))


def test_they_agree_in_states_and_verdicts(ours: Vote, checker: Checker) -> None:
    theirs = checker(commands(), ASKED)
    assert theirs.verdicts == ours.verdicts
    if theirs.states is not None:
        assert theirs.states == ours.states


def test_a_contradiction_stays_in_temporal_logic(tmp_path: Path) -> None:
    if promela.missing():
        pytest.skip(f"not installed: {', '.join(promela.missing())}")
    assert promela.contradiction_is_shown_for_good(commands(), tmp_path / "sound")
    forgiving = [*commands(), Command("forgive", {}, {"contradicted": "no"})]
    assert not promela.contradiction_is_shown_for_good(forgiving, tmp_path / "unsound")


def _without_guard(guard: str) -> Declaration:
    """A declaration that lets a success pass although `guard` does not hold."""
    rows = tuple(
        replace(row, guards=tuple(one for one in row.guards if one != guard))
        if SUCCEEDED in row.triggers and row.guards
        else row
        for row in LIFECYCLE.rows
    )
    return replace(LIFECYCLE, rows=rows)


def test_each_checker_notices_a_success_with_an_open_call(checker: Checker) -> None:
    theirs = checker(commands(_without_guard("calls_settled")), list(PROPERTIES))
    broken = [name for name, holds in theirs.verdicts.items() if not holds]
    assert broken == ["P7: no success with an open call"]


def test_the_commands_make_the_very_steps_of_the_oracle() -> None:
    """Not only as many states: the same steps between the same states."""
    ours = set(own.steps())
    theirs = set()
    system = commands()
    for state in {before for before, _ in ours}:
        named = dict(zip(VARIABLES, state, strict=True))
        for command in system:
            if fits(named, command.guard):
                theirs.add((state, tuple({**named, **command.updates}.values())))
    assert theirs == ours


def test_the_commands_decide_every_state() -> None:
    """Every value of every variable occurs, and no command leads out of the domains."""
    used = {(name, value) for one in commands() for name, value in one.updates.items()}
    used |= {(name, values[0]) for name, values in VARIABLES.items()}
    assert used == {(name, value) for name, values in VARIABLES.items() for value in values}
    assert {name for one in commands() for name in one.guard} >= {"state", *CALLS}
