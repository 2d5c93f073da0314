"""Seeded faults: where they are, how they are judged, and what is said of them."""

from __future__ import annotations

import ast

import pytest
from click.testing import CliRunner

from doneness.generators.commands.mutants import command
from doneness.generators.mutants import campaign, judging, loading
from doneness.generators.mutants.campaign import Judged, Report
from doneness.generators.mutants.judging import Verdict, judge, require_green_baseline
from doneness.generators.mutants.loading import MODULES, PREFIX, loaded, source_of
from doneness.generators.mutants.operators import OPERATORS
from doneness.generators.mutants.recording import RedBaselineError
from doneness.generators.mutants.sites import mutants
from doneness.generators.mutants.table_judging import judge_table
from doneness.generators.mutants.tables import TableMutant, table_mutants

CODE_SAMPLED = 120
"""Changes of code that are judged here, spread evenly over all modules; about half a minute."""


def of(source):
    """The changes of a piece of code: operator and what stands there then."""
    return {(one.operator, one.after) for one in mutants("doneness.machine.piece", source)}


@pytest.mark.parametrize(
    ("source", "operator", "after"),
    [
        ("a < b", "comparison", "a <= b"),
        ("a is b", "comparison", "a is not b"),
        ("a and b", "boolean", "a or b"),
        ("a and b", "boolean", "b"),
        ("x if a else y", "negation", "x if not a else y"),
        ("not a", "negation", "a"),
        ("a + 1", "arithmetic", "a - 1"),
        ("a = 1", "constant", "2"),
        ("a = 'x'", "constant", "''"),
        ("a = True", "constant", "False"),
        ("a.b = 1", "statement", "(nothing)"),
        ("def f():\n return a", "return", "return None"),
        ("for a in b:\n break", "loop", "continue"),
        ("f(a, b)", "argument", "f(b, a)"),
        ("f(a, k=1)", "argument", "f(a)"),
        ("max(a, b)", "name", "min"),
        ("Status.DONE", "member", "Status.REJECTED"),
        ("{1: a, 2: b}", "entry", "{2: b}"),
        ("{1: a, 2: b}", "entry", "{1: b, 2: a}"),
        ("match a:\n case 1 | 2: b", "case", "1"),
        ("a[1:2]", "slice", "1:"),
        ("class A(msgspec.Struct):\n a: int | None", "type", "a: int"),
    ],
)
def test_each_operator_changes_what_it_says(source, operator, after):
    """One example each, by hand."""
    assert (operator, after) in of(source)


def test_every_operator_occurs_in_the_machine():
    """None is there for show."""
    found = {
        one.operator for module in MODULES for one in mutants(PREFIX + module, source_of(module))
    }
    assert found == {operator.name for operator in OPERATORS}


def test_words_for_people_are_no_sites():
    """Documentation, annotations and the messages of errors."""
    source = 'def f(a: "int") -> str:\n "what it is"\n raise ValueError(f"a: {a}")'
    assert of(source) == {("statement", "(nothing)")}


def test_a_mutant_is_loaded_beside_the_real_machine():
    """Its own modules are new, and the real ones are untouched."""
    source = source_of("reducer")
    [mutant] = [
        one
        for one in mutants(PREFIX + "reducer", source)
        if one.key.endswith("Progress.close_transport: constant: True -> False")
    ]
    with loaded({"reducer": mutant.code()}, __turn__=lambda: None) as machine:
        wrong = machine.reducer.Progress("r")
        wrong.close_transport()
        assert wrong.closed is False
        assert machine.acceptance.Progress is machine.reducer.Progress
    with loaded({}) as machine:
        right = machine.reducer.Progress("r")
        right.close_transport()
        assert right.closed is True
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(source_of("reducer")))


@pytest.fixture(scope="module")
def baseline():
    """The machine as it is passes."""
    require_green_baseline()


@pytest.mark.usefixtures("baseline")
@pytest.mark.parametrize(
    ("module", "key", "outcome"),
    [
        ("reducer", "Progress.close_transport: constant: True -> False", "killed"),
        ("content", "fingerprint: constant: b'=' -> b'=~'", "survived"),
        ("content", "fingerprint: statement: finished[id(child)] = None -> (nothing)", "endless"),
        ("producer", "Producer.emit: constant: 1 -> 2", "killed"),
    ],
)
def test_a_mutant_is_judged(module, key, outcome):
    """Killed, survived, or endless: which is no kill."""
    [mutant] = [
        one for one in mutants(PREFIX + module, source_of(module)) if one.key.endswith(f":{key}")
    ]
    assert judge(mutant).outcome == outcome


@pytest.mark.usefixtures("baseline")
def test_what_the_clock_stops_is_no_kill(monkeypatch):
    """A mutant that is too slow is timed out."""
    monkeypatch.setattr(judging, "SECONDS_MAX", 0.001)
    [mutant] = [
        one
        for one in mutants(PREFIX + "content", source_of("content"))
        if one.key.endswith("fingerprint: constant: b'=' -> b'=~'")
    ]
    assert judge(mutant).outcome == "timed out"


def test_a_red_baseline_is_refused(monkeypatch):
    """A check that the machine fails as it is kills nothing."""
    judging.checks()
    red = {"red": lambda _machine, _fuel: ("always", None), **judging.checks()}
    monkeypatch.setattr(judging, "checks", lambda: red)
    with pytest.raises(RedBaselineError, match="red fails on the machine as it is"):
        require_green_baseline()
    result = CliRunner().invoke(command, ["acceptance"])
    assert (result.exit_code, "make it pass first" in result.output) == (2, True)


@pytest.mark.usefixtures("baseline")
def test_every_fault_of_the_producer_and_the_acceptance_is_killed():
    """Two whole modules, as the command does it."""
    result = CliRunner().invoke(command, ["producer", "acceptance", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "survived, line" not in result.output


@pytest.mark.usefixtures("baseline")
@pytest.mark.parametrize("module", MODULES)
def test_changes_from_all_over_the_code_are_noticed(module):
    """None of an even spread survives, but what is listed with its reason.

    An endless loop hangs whoever runs into it: no kill, but seen.
    """
    known = campaign.equivalents()
    spread = {
        one: [mutant for mutant in mutants(PREFIX + one, source_of(one)) if mutant.key not in known]
        for one in MODULES
    }
    step = sum(map(len, spread.values())) // CODE_SAMPLED
    chosen = spread[module][step // 2 :: step] or spread[module][:1]
    assert chosen
    missed = [
        (one.key, outcome)
        for one in chosen
        if (outcome := judge(one).outcome) not in ("killed", "endless")
    ]
    assert missed == []


def test_every_changed_decision_of_the_tables_is_noticed():
    """All of them, to the end: none survives that is not listed with its reason."""
    found = {one.key: judge_table(one) for one in table_mutants()}
    tables = {key.partition(":")[0] for key in found}
    assert tables == {"spec.admission", "spec.lifecycle", "spec.toolcall"}
    listed = {key for key in campaign.equivalents() if key.startswith("spec.")}
    assert {key for key, events in found.items() if events is None} == listed
    assert max(events for events in found.values() if events) <= judging.EVENTS_MAX


def test_a_sample_holds_all_tables_and_what_its_seed_says():
    """The same seed, the same sample; mostly changes that are not said to be equivalent."""
    every = [*table_mutants(), *mutants(PREFIX + "reducer", source_of("reducer"))]
    known = campaign.equivalents()
    first, again, other = (
        [every[place] for place in campaign.sampled(every, known, 100, seed)] for seed in (1, 1, 2)
    )
    assert first == again != other
    assert [one for one in first if isinstance(one, TableMutant)] == list(table_mutants())
    code = [one for one in first if not isinstance(one, TableMutant)]
    assert len(code) == 100
    assert sum(one.key in known for one in code) == 100 // campaign.LISTED_EVERY


def test_a_changed_table_is_told_apart_by_the_shortest_stream():
    """As many events as it takes by hand; a step that shows nothing yet is followed."""
    needed = {
        "spec.lifecycle:running text.delta: target: running -> cancelling": 1,
        "spec.lifecycle:checking app.checked/ok: target: done -> rejected": 2,
        "spec.lifecycle:cut eof: target: cut -> running": 2,
        "spec.lifecycle:recovered tool.started: target: recovered -> unresolved": 6,
        "spec.admission:another_run: counter: foreign -> None": 1,
    }
    found = {one.key: one for one in table_mutants()}
    assert {key: judge_table(found[key]) for key in needed} == needed


def judged(key, outcome, events=None):
    """A mutant of which this is known."""
    return Judged(key, "constant", 1, Verdict(outcome, "", events))


def test_the_report_counts_what_became_of_each():
    """Survivors, equivalents, stale entries, streams that are too long."""
    report = Report(
        (
            judged("a", "killed", 2),
            judged("b", "survived"),
            judged("c", "survived"),
            judged("d", "timed out"),
            judged("e", "endless"),
            judged("f", "killed", 7),
        ),
        {"c": "nobody sees it", "g": "gone"},
        ("g",),
    )
    assert [one.key for one in report.survivors] == ["b", "d"]
    assert [one.key for one in report.long] == ["f"]
    lines = list(report.lines())
    assert lines[0].split() == [
        "operator",
        "mutants",
        "killed",
        "endless",
        "equivalent",
        "survived",
        "timed",
        "out",
    ]
    assert lines[1].split() == ["constant", "6", "2", "1", "1", "1", "1"]
    assert "stale entry in equivalent.json: g" in lines


def test_each_equivalent_has_its_reason_and_exists():
    """The file names mutants that there are."""
    keys = {one.key for module in MODULES for one in mutants(PREFIX + module, source_of(module))}
    keys |= {one.key for one in table_mutants()}
    known = campaign.equivalents()
    assert sorted(set(known) - keys) == []
    assert all(len(reason) > 20 for reason in known.values())
    assert loading.MODULES
