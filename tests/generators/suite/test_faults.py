"""Seeded faults beside the families of tests that are data: what finds what."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from doneness.generators.commands.suite import command
from doneness.generators.mutants.tables import TableMutant, changed
from doneness.generators.suite import faults
from doneness.generators.suite.documents import machine_of
from doneness.generators.suite.families import (
    FAMILIES,
    DeclaredReducer,
    finds,
    finds_changed,
    prepared,
)
from doneness.generators.suite.faults import ISSUE, Judged, all_faults, judge, judge_all, table
from doneness.generators.suite.machines import suite_words
from doneness.generators.suite.running import load
from doneness.machine import Progress

BY_NAME = {family.name: family for family in FAMILIES}
COVER, COMPLETE = BY_NAME["transition cover, one call"], BY_NAME["m = 0, one call"]
HAND_WRITTEN, FIELD = BY_NAME["hand-written cases"], BY_NAME["field cases"]


@pytest.mark.parametrize("family", [one for one in FAMILIES if not one.extra], ids=lambda f: f.name)
def test_without_a_fault_no_family_fails(family):
    """Neither our reducer nor one made of the declared tables."""
    assert not finds(family, Progress)
    assert not finds(family, DeclaredReducer)


def fault(end):
    """The one fault whose key ends so."""
    [found] = [(group, one) for group, one in all_faults() if one.key.endswith(end)]
    return found


@pytest.mark.parametrize(
    ("end", "found_by"),
    [
        (
            "Progress.close_transport: constant: True -> False",
            {"suites", "hand-written cases", "field cases"},
        ),
        # Counts and texts are no part of a suite's states, the cases assert them.
        (
            "Progress._take: statement: self._foreign += 1 -> (nothing)",
            {"hand-written cases", "field cases"},
        ),
        # No case has a call that fails in a run whose model recovered.
        ("recovered tool.failed: target: recovered -> incomplete", {"suites"}),
        ("toolcall:failed tool.failed: accepted: bad_payload_or_transition -> failed", {"suites"}),
        # An object that is no dict: in none of them.
        ("Progress.feed: argument: type(event) -> event", set()),
    ],
)
def test_a_fault_is_judged(end, found_by):
    """What finds it, by hand; a suite and its transition cover agree on these."""
    judged = judge(*fault(end), [COVER, COMPLETE, HAND_WRITTEN, FIELD])
    assert {COVER.name, COMPLETE.name} <= judged.found_by or "suites" not in found_by
    said = {"suites" if name in (COVER.name, COMPLETE.name) else name for name in judged.found_by}
    assert said == found_by


def test_what_is_endless_is_found_by_nobody():
    """A loop that a fault leaves without an end is stopped, and not counted."""
    judged = judge(
        *fault("fingerprint: statement: finished[id(child)] = None -> (nothing)"), [HAND_WRITTEN]
    )
    assert judged.found_by == set()


def test_what_a_changed_decision_cannot_touch_need_not_be_run():
    """A family says of each changed table what it says when all of its tests are run."""
    families = prepared([COVER, COMPLETE])
    tables = [one for _, one in all_faults() if isinstance(one, TableMutant)]
    said = set()
    for one in Random(5).sample(tables, 40):
        with changed(one):
            for family in families:
                found = finds_changed(family, one.decided)
                assert found == finds(family, DeclaredReducer), one.key
                said.add(found)
    assert said == {True, False}


def test_a_larger_suite_finds_what_the_smaller_one_found():
    """Its tests are all among the larger one's, so that they need not be run again."""
    contained = {one: BY_NAME[one.contains] for one in FAMILIES if one.contains}
    assert [one for one in FAMILIES if one.extra] == list(contained)
    for larger, smaller in contained.items():
        assert (larger.calls, larger.observed) == (smaller.calls, smaller.observed)
    machine, cover, identifiers = machine_of(load(1, "status"))
    few, many = (set(suite_words(machine, cover, identifiers, extra)) for extra in (0, 1))
    assert few < many


def test_a_family_that_fails_without_a_fault_is_refused(monkeypatch):
    """It would find everything."""
    monkeypatch.setattr(faults, "finds", lambda _family, _factory: True)
    with pytest.raises(ValueError, match="hand-written cases: fails without a fault"):
        judge_all([HAND_WRITTEN])


def test_the_table_counts_by_group_and_family():
    """In Markdown, with the totals first and what all find together last."""
    both = frozenset({COVER.name, FIELD.name})
    judged = [
        Judged("a", "one", frozenset({COVER.name}), both),
        Judged("b", "one", both, both),
        Judged("c", "other", frozenset({FIELD.name}), frozenset({FIELD.name})),
        Judged("d", "other", frozenset(), frozenset({FIELD.name})),
    ]
    assert list(table(judged, [COVER, FIELD])) == [
        "|  | one | other | all |",
        "| --- | ---: | ---: | ---: |",
        "| seeded faults | 2 | 2 | 4 |",
        "| transition cover, one call | 2 | – | – |",
        "| field cases | 1 | 1 | 2 |",
        "| all of these together | 2 | 1 | 3 |",
    ]


def test_the_command_judges_a_sample():
    """One fault in so many, in several processes, as one would write it."""
    result = CliRunner().invoke(command, ["faults", "--quick", "--every=400", "--jobs=2", "--list"])
    assert result.exit_code == 0, result.output
    rows = [line.split(" | ") for line in result.output.splitlines() if line.startswith("|")]
    counts = {
        row[0].strip("| "): int(row[-1].strip("| "))
        for row in rows
        if row[-1] != "---: |" and row[-1] != "all |"
    }
    sample = list(all_faults())[::400]
    assert counts["seeded faults"] == len(sample)
    assert 0 < counts["field cases"] < counts["m = 0, two calls"] <= counts["all of these together"]
    missed = [line for line in result.output.splitlines() if line.startswith("not found: ")]
    assert len(missed) == len(sample) - counts["all of these together"]
    assert not any(ISSUE in one.operator for _, one in sample if isinstance(one, TableMutant))


def test_the_page_has_the_table():
    """A column for each group of faults, a row for each family."""
    page = (Path(__file__).parents[3] / "docs" / "complete-suite.md").read_text("utf-8")
    groups = dict.fromkeys(group for group, _ in all_faults())
    assert f"|  | {' | '.join(groups)} | all |" in page
    assert all(f"\n| {family.name} | " in page for family in FAMILIES)
