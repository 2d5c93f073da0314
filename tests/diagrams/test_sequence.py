"""A case as a sequence: nothing is left out, and nothing runs into each other."""

import dataclasses
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from doneness.diagrams import sequence
from doneness.diagrams.path import steps
from doneness.diagrams.sequence import Party
from doneness.diagrams.theme import THEMES
from doneness.fixtures.cases import every

CASES = {case.name: case for case in every()}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
SVG = "{http://www.w3.org/2000/svg}"


@EACH
def test_every_event_goes_from_the_host_to_the_transport(case):
    numbers = []
    for message in sequence.messages(case):
        if message.source is Party.HOST:
            first, _, last = message.words.split()[0].partition("-")
            numbers += range(int(first), int(last or first) + 1)
    assert numbers == list(range(1, len(steps(case)) + 1))


@EACH
def test_the_view_hears_each_new_status(case):
    statuses = [step.status for step in steps(case)]
    new = [s for i, s in enumerate(statuses) if i == 0 or s != statuses[i - 1]]
    heard = [m.words for m in sequence.messages(case) if m.target is Party.VIEW]
    assert heard == new


def test_the_end_of_the_connection_is_no_message():
    [end] = [m for m in sequence.messages(CASES["normal"]) if m.broken]
    assert (end.source, end.target) == (Party.HOST, Party.TRANSPORT)
    assert "close_transport()" in sequence.mermaid(CASES["normal"])


def test_a_subject_that_strays_is_marked_once():
    case = dataclasses.replace(CASES["normal"], shown_steps=("running", "done", "done"))
    words = [m.words for m in sequence.messages(case) if m.words.startswith("✗")]
    assert words == ["✗ done", "✗ declared: running"]


@EACH
@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_no_words_run_into_each_other(case, theme):
    """Words on one line keep their distance, however wide the font: 0.62 em a character."""
    root = ET.fromstring(sequence.svg(case, theme))
    lines = {}
    for text in root.iter(f"{SVG}text"):
        if text.get("text-anchor") == "middle":
            half = len(text.text or "") * sequence.FONT_PIXELS * 0.62 / 2
            x = float(text.get("x"))
            lines.setdefault(text.get("y"), []).append((x - half, x + half))
    for spans in lines.values():
        spans.sort()
        assert spans[0][0] >= 0
        assert spans[-1][1] <= float(root.get("width"))
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_mermaid_has_no_signs_of_its_own_in_the_words():
    for case in CASES.values():
        for line in sequence.mermaid(case).splitlines()[4:]:
            words = line.partition(": ")[2]
            assert not re.search(r"[;:#](?!\d\d;|$)", re.sub(r"#\d+;", "", words)), line
