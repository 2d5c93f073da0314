"""Every case of the project, replayed: against the reducer, and against the declaration."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from doneness.fixtures.cases import EOF, Case, every
from doneness.generators.classify import declared
from doneness.machine import Progress
from doneness.spec.vocabulary import LABELS

CASES = list(every())
LABELS_ZH = json.loads((files("doneness.fixtures") / "progress/labels.zh.json").read_text("utf-8"))

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@each_case
@pytest.mark.parametrize("as_bytes", [False, True], ids=["objects", "bytes"])
def test_the_reducer_shows_every_step_and_the_end(case: Case, as_bytes: bool) -> None:
    progress = Progress(case.run)
    shown = []
    for event in case.events:
        if event is EOF:
            progress.close_transport()
        elif as_bytes:
            progress.feed_json(json.dumps(event, ensure_ascii=False).encode())
        else:
            progress.feed(event)
        shown.append(str(progress.status))
        assert progress.message == LABELS_ZH[progress.status]
    assert tuple(shown) == case.expected_steps
    progress.close_transport()
    assert progress.status == case.expected_final
    for field, expected in case.assertions.items():
        assert getattr(progress, field) == expected, field


@each_case
def test_the_declaration_says_every_step_and_the_end(case: Case) -> None:
    said = declared(case.run, [*case.events, EOF])
    statuses = tuple(str(one.status) for one in said)
    assert statuses == (*(case.expected_steps or ()), case.expected_final)
    for field, expected in case.assertions.items():
        assert said[-1].observables[field] == expected, field


@each_case
def test_reducer_and_declaration_show_the_same_in_all_observables(case: Case) -> None:
    progress = Progress(case.run)
    for event, said in zip(case.events, declared(case.run, case.events), strict=True):
        if event is EOF:
            progress.close_transport()
        else:
            progress.feed(event)
        assert {name: getattr(progress, name) for name in said.observables} == said.observables


def test_the_thirty_and_the_twenty_three_are_there() -> None:
    counts = {folder: sum(1 for _ in every((folder,))) for folder in ("progress", "field")}
    assert counts == {"progress": 30, "field": 23}


def test_names_are_unique_over_all_folders() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@each_case
def test_every_case_says_what_it_expects(case: Case) -> None:
    assert case.expected_steps is not None
    assert case.expected_final is not None


@pytest.mark.parametrize("case", list(every(("field",))), ids=lambda case: case.name)
def test_every_field_stream_says_where_from_and_why(case: Case) -> None:
    assert case.source
    assert case.reason
    assert len(case.because) == len(case.events)


@pytest.mark.parametrize("case", list(every(("kept",))), ids=lambda case: case.name)
def test_every_kept_case_has_its_reason_and_its_own_file(case: Case) -> None:
    assert case.reason
    assert case.file == f"kept/{case.name}.json"


def test_the_chinese_labels_are_those_of_the_data() -> None:
    assert LABELS["zh"] == LABELS_ZH
