"""The complete suite of the declaration: as written down, as run, and what it finds."""

from __future__ import annotations

import json
from importlib.resources import files as resources
from random import Random

import pytest
from jsonschema import Draft202012Validator

from doneness.generators.subject import PythonSubject, own_subjects
from doneness.generators.suite.documents import OBSERVATIONS, files, machine_of
from doneness.generators.suite.machines import Moore, equivalent, fails, suite_words
from doneness.generators.suite.running import Unfolding, load, run, transition_cover
from doneness.machine import Progress

FIXTURES = resources("doneness.fixtures")
SUITES = [(calls, observed) for calls in (1, 2) for observed in OBSERVATIONS]


def test_the_files_are_those_that_the_declaration_makes():
    """`doneness suite write` changes nothing."""
    written = {path.name: path.read_text("utf-8") for path in (FIXTURES / "suite").iterdir()}
    assert written == dict(files())


@pytest.mark.parametrize("suite", SUITES)
def test_the_files_keep_their_schema(suite):
    """The published schema, which a reader in another language goes by."""
    schema = json.loads((FIXTURES / "suite.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(load(*suite))) == []


@pytest.mark.parametrize("suite", SUITES)
def test_our_reducer_passes(suite):
    """Every transition, and the complete suite for no extra state."""
    found = load(*suite)
    cover = run(found, own_subjects()[0], words=transition_cover(found))
    assert (cover.failure, cover.left_out) == (None, 0)
    complete = run(found, own_subjects()[0])
    assert (complete.failure, complete.left_out) == (None, 0)
    assert complete.tests > len(found["cover"]) * len(found["alphabet"]) / 2


@pytest.mark.slow
def test_our_reducer_passes_with_an_extra_state_allowed():
    """The complete suite for one call and one extra state."""
    result = run(load(1, "snapshot"), own_subjects()[0], extra=1)
    assert result.failure is None
    assert result.tests > 40_000


def with_one_changed_step(machine, random):
    """A machine with one transition redirected."""
    state, letter = random.randrange(len(machine.steps)), random.randrange(machine.inputs)
    steps = [list(row) for row in machine.steps]
    steps[state][letter] = random.randrange(len(steps))
    return Moore(machine.inputs, tuple(map(tuple, steps)), machine.outputs)


def with_one_more_state(machine, random):
    """A machine in which one transition leads to a copy of its target that differs in a step."""
    state, letter = random.randrange(len(machine.steps)), random.randrange(machine.inputs)
    steps = [list(row) for row in machine.steps]
    target = steps[state][letter]
    steps.append(list(steps[target]))
    steps[state][letter] = len(steps) - 1
    steps[-1][random.randrange(machine.inputs)] = random.randrange(len(steps) - 1)
    outputs = (*machine.outputs, machine.outputs[target])
    return Moore(machine.inputs, tuple(map(tuple, steps)), outputs)


@pytest.mark.parametrize(
    ("calls", "observed", "make", "extra", "count"),
    [
        (1, "snapshot", with_one_changed_step, 0, 60),
        (1, "status", with_one_changed_step, 0, 60),
        (2, "snapshot", with_one_changed_step, 0, 15),
        (1, "snapshot", with_one_more_state, 1, 15),
        (1, "status", with_one_more_state, 1, 15),
    ],
)
def test_every_sampled_fault_within_the_bound_is_found(calls, observed, make, extra, count):
    """Faulty machines with at most n + m states all fail, if they are faulty at all."""
    machine, cover, identifiers = machine_of(load(calls, observed))
    random = Random(5)
    tried = 0
    while tried < count:
        faulty = make(machine, random)
        if equivalent(faulty, machine):
            continue
        tried += 1
        assert any(
            fails(faulty, machine, word) for word in suite_words(machine, cover, identifiers, extra)
        )


class Forgetful(Progress):
    """A reducer with one more state: after two completed responses a cancel is not heard."""

    def feed(self, event):
        if event.get("kind") == "cancel.requested" and len(self.model_responses) >= 2:
            event = {**event, "kind": "text.delta", "data": {"text": ""}}
        super().feed(event)


def test_a_failure_says_which_letters_led_there():
    """And an extra state is found by the suite for one extra state, not by the one for none."""
    subject = PythonSubject("forgetful", Forgetful)
    found = load(1, "snapshot")
    assert run(found, subject).failure is None
    failure = run(found, subject, extra=1).failure
    assert failure.letters.count("response completed") == 2
    assert failure.letters[-1] == "cancel requested"
    assert len(failure.events) <= 6
    assert failure.expected["cancel_requested"] != failure.shown["cancel_requested"]


def test_letters_become_events_as_the_page_says():
    """Numbers, ids, repeats and the end of the connection."""
    found = load(1, "snapshot")
    place = {letter["name"]: number for number, letter in enumerate(found["alphabet"])}
    names = ["the last again", "another run", "text", "the last id, other data", "a gap by one",
             "the last again", "EOF", "text"]  # fmt: skip
    events = Unfolding(found).events(tuple(place[name] for name in names))
    seen = [event and (event["run"], event["id"], event["seq"], event["data"]) for event in events]
    assert seen == [
        ("run-A-other", "run-A:1", 1, {"text": "x"}),
        ("run-A", "run-A:1", 1, {"text": "x"}),
        ("run-A", "run-A:1", 1, {"text": "y"}),
        ("run-A", "run-A:3", 3, {"text": "x"}),
        ("run-A", "run-A:3", 3, {"text": "x"}),
        None,
        ("run-A", "run-A:4", 4, {"text": "x"}),
    ]
