"""The path of a case: every step is on the diagram, and so is the place where a subject strays."""

import json
import re
from itertools import pairwise

import pytest

from doneness.diagrams import dot, extract
from doneness.diagrams.drawing import Mark
from doneness.diagrams.fold import fold
from doneness.diagrams.path import SUBJECT, steps, walked
from doneness.fixtures.cases import cases_of, every

LIFECYCLE = extract.charts()["lifecycle"]
CASES = list(every())
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def case_of(**changes):
    """`cancel_then_success`, changed."""
    [case] = [case for case in CASES if case.name == "cancel_then_success"]
    members = {"name": case.name, "run": case.run, "events": list(case.events), **changes}
    return cases_of(json.dumps(members).encode(), "case.json")[0]


@EACH
def test_the_statuses_are_those_that_the_case_expects(case):
    taken = steps(case)
    if case.expected_steps is not None:
        assert tuple(step.status for step in taken[: len(case.events)]) == case.expected_steps
    if case.expected_final is not None:
        assert taken[-1].status == case.expected_final


@EACH
def test_each_step_begins_where_the_one_before_ended(case):
    taken = steps(case)
    assert not taken or taken[0].arrow.source == LIFECYCLE.initial
    for before, after in pairwise(taken):
        assert before.after == after.arrow.source
        assert before.arrow.refused or before.arrow.target == before.after


@EACH
def test_every_step_has_its_number_on_one_edge(case):
    chart, overlay = walked(LIFECYCLE, case)
    edges = [edge for edge in fold(chart, overlay).edges if edge.mark is Mark.WALKED]
    numbers = [n for edge in edges for phrase in edge.phrases for n in numbers_of(phrase)]
    assert sorted(numbers) == list(range(1, len(steps(case)) + 1))


def numbers_of(phrase):
    """The steps that stand before a phrase: `1-3, 7: …`."""
    for span in phrase.split(":")[0].split(", "):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


def test_the_first_difference_is_where_the_subject_left_the_path():
    plain = case_of()
    status = [step.status for step in steps(plain)]
    shown = [*status[:-1], "checking"]
    assert status[-1] != "checking"
    drawing = fold(*walked(LIFECYCLE, case_of(shown_steps=shown)))
    [subject] = [node for node in drawing.nodes if node.name == SUBJECT]
    [edge] = [edge for edge in drawing.edges if edge.target == SUBJECT]
    assert subject.shows == "checking"
    assert edge.phrases[0].startswith(f"✗ {len(status)}: ")
    assert edge.mark is Mark.LEFT
    assert any(row[4] == "✗ checking" for row in drawing.table)
    assert not any(n.name == SUBJECT for n in fold(*walked(LIFECYCLE, plain)).nodes)
    kept = case_of(shown_steps=status)
    assert not any(n.name == SUBJECT for n in fold(*walked(LIFECYCLE, kept)).nodes)


def test_what_a_file_says_is_not_taken_for_markup():
    """Names and statuses of a foreign file come out as text, its control characters visible."""
    nasty = '<b>"\u001b[31m</b>'
    source = dot.source([fold(*walked(LIFECYCLE, case_of(name=nasty, shown_steps=[nasty])))])
    assert "\u001b" not in source
    assert not re.search(r"<b>\\?\"", source)
    assert "&lt;b&gt;" in source
