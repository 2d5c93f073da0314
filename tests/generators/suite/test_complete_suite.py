"""The complete suite of the declaration: as written down, as run, and what it finds."""

from __future__ import annotations

import json
import sys
import tracemalloc
from hashlib import sha256
from importlib.resources import files as resources
from itertools import islice
from random import Random

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from doneness.generators.commands import suite as suite_command
from doneness.generators.commands.suite import command
from doneness.generators.subject import PythonSubject, own_subjects
from doneness.generators.subjects.reducer_program import ReducerProgram
from doneness.generators.suite.documents import OBSERVATIONS, files, machine_of
from doneness.generators.suite.families import DeclaredReducer
from doneness.generators.suite.faulty import faulty_machines, trial
from doneness.generators.suite.machines import discovered, equivalent, suite_words
from doneness.generators.suite.running import load, run, transition_cover
from doneness.generators.suite.unfolding import SUMS, Unfolding, every_test, recorded
from doneness.machine import Progress

FIXTURES = resources("doneness.fixtures")
SUITES = [(calls, observed) for calls in (1, 2) for observed in OBSERVATIONS]


def test_the_files_are_those_that_the_declaration_makes():
    """`doneness suite write` changes nothing."""
    written = {path.name: path.read_text("utf-8") for path in (FIXTURES / "suite").iterdir()}
    assert written.pop(SUMS)
    assert written == dict(files())


EVERY = [
    pytest.param(calls, observed, extra, marks=[pytest.mark.slow] * (calls + extra > 2))
    for calls, observed in SUITES
    for extra in (0, 1)
]


@pytest.mark.parametrize(("calls", "observed", "extra"), EVERY)
def test_each_suite_unfolded_is_the_one_on_record(calls, observed, extra, tmp_path):
    """Counts, size and checksum, as of the file that the command writes."""
    file = tmp_path / "tests.jsonl"
    options = [f"--calls={calls}", f"--observed={observed}", f"--extra={extra}"]
    result = CliRunner().invoke(command, ["unfold", *options, f"--output={file}"])
    assert result.exit_code == 0, result.output
    [record] = [
        one
        for one in recorded()
        if (one["calls"], one["observed"], one["extra"]) == (calls, observed, extra)
    ]
    written = file.read_bytes()
    assert sha256(written).hexdigest() == record["sha256"]
    assert (len(written), written.count(b"\n")) == (record["bytes"], record["tests"])
    shortest, first = map(json.loads, written.split(b"\n", 2)[:2])
    assert shortest["events"] == []
    assert set(first) == {"run", "events", "shown"}


def test_another_suite_than_the_one_on_record_is_said_to_be(monkeypatch):
    """Whoever changes the tables is told that the record is old."""
    monkeypatch.setattr(suite_command, "recorded", list)
    result = CliRunner().invoke(command, ["unfold"])
    assert (result.exit_code, "on record" in result.output) == (1, True)


def test_unfolding_keeps_next_to_nothing():
    """However many tests came before: kept, these would be more than twice as much."""
    found = load(2, "snapshot")
    tracemalloc.start()
    try:
        for _ in islice(every_test(found, extra=1), 24_000):
            pass
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 4_000_000


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
@pytest.mark.parametrize("suite", SUITES[:3])
def test_our_reducer_passes_with_an_extra_state_allowed(suite):
    """The complete suites for one extra state, whole; the last one takes its time by hand."""
    result = run(load(*suite), own_subjects()[0], extra=1)
    assert (result.failure, result.left_out) == (None, 0)
    [record] = [
        one for one in recorded() if (one["calls"], one["observed"], one["extra"]) == (*suite, 1)
    ]
    assert (result.tests, result.events) == (record["tests"], record["events"])


@pytest.mark.parametrize(
    ("calls", "observed", "extra", "count"),
    [
        (1, "snapshot", 0, 300),
        (1, "status", 0, 300),
        (2, "snapshot", 0, 100),
        (2, "status", 0, 100),
        (1, "snapshot", 1, 100),
        (1, "status", 1, 100),
        (2, "snapshot", 1, 30),
        (2, "status", 1, 20),
    ],
)
def test_every_sampled_machine_within_the_bound_is_found(calls, observed, extra, count):
    """Faulty machines with at most n + m states all fail; `doneness suite prove` tries more."""
    machine, cover, identifiers = machine_of(load(calls, observed))
    words = list(suite_words(machine, cover, identifiers, extra))
    assert trial(machine, words, extra, count, seed=5).escaped == 0


@pytest.mark.parametrize("observed", OBSERVATIONS)
def test_beyond_the_bound_some_escape(observed):
    """So the machines tried are not all plainly wrong: one state more hides some of them."""
    machine, cover, identifiers = machine_of(load(1, observed))
    words = list(suite_words(machine, cover, identifiers, 0))
    assert trial(machine, words, 1, 100, seed=5).escaped


def test_the_machines_tried_are_wrong_in_many_ways():
    """More states and fewer, other steps and other outputs; never more states than allowed."""
    machine, _, _ = machine_of(load(1, "snapshot"))
    tried = list(islice(faulty_machines(machine, 1, Random(5)), 200))
    assert {len(one.steps) - len(machine.steps) for one in tried} == {0, 1}
    assert {one.outputs[: len(machine.outputs)] == machine.outputs for one in tried} == {
        True,
        False,
    }
    reached = {
        len(discovered(0, one.inputs, lambda s, a, m=one: m.steps[s][a])[0]) for one in tried
    }
    assert min(reached) < len(machine.steps) < max(reached)
    assert not any(equivalent(one, machine) for one in tried)


class Played:
    """A machine as a reducer: it knows each event by the letter that makes it."""

    def __init__(self, document, machine):
        self._document, self._machine = document, machine
        self._unfolding = Unfolding(document)
        self._word = ()
        self._state = 0

    def __getattr__(self, name):
        shown = json.loads(self._machine.outputs[self._state])
        if name not in shown:
            raise AttributeError(name)
        return shown[name]

    def feed(self, event):
        before = self._unfolding.events(self._word)
        for letter in range(self._machine.inputs):
            if self._unfolding.events((*self._word, letter)) == [*before, event]:
                self._word = (*self._word, letter)
                self._state = self._machine.steps[self._state][letter]
                return
        raise AssertionError(f"no letter is {event}")

    def close(self):
        self.feed(None)


def test_machines_that_take_real_events_fail_as_they_should():
    """The whole way: words, events, a subject, what it shows; the right machine passes."""
    found = load(1, "snapshot")
    machine, _, _ = machine_of(found)
    subject = PythonSubject("the declaration", lambda _run: Played(found, machine))
    assert run(found, subject).failure is None
    for faulty in islice(faulty_machines(machine, 0, Random(5)), 6):
        made = PythonSubject("faulty", lambda _run, made=faulty: Played(found, made))
        assert run(found, made).failure is not None


class Eager(Progress):
    """Shows that it waits before anything came."""

    @property
    def status(self):
        return super().status if self.last_seq or self.foreign or self.issues else "waiting"


def test_what_is_shown_before_the_first_event_is_looked_at(tmp_path):
    """The empty test, in this process and over the protocol."""
    failure = run(load(1, "status"), PythonSubject("eager", Eager)).failure
    assert (failure.letters, failure.shown["status"]) == ((), "waiting")
    program = tmp_path / "eager.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    answer = {'protocol': 1, 'name': 'eager', 'capabilities': ['trace'],\n"
        "              'status': 'waiting', 'shown': [{'status': 'running'}]}\n"
        "    print(json.dumps({'n': asked['n'], **answer}), flush=True)\n"
    )
    subject = ReducerProgram([sys.executable, str(program)])
    try:
        [start, later] = subject.last("a run", [[], [None]])
    finally:
        subject.close()
    assert start["status"] == "waiting"
    assert later["status"] in ("running", "waiting")


@pytest.mark.parametrize("suite", SUITES)
def test_what_the_abstraction_puts_together_behaves_alike(suite):
    """Long words: what tables and reducer show behind them is what the finite machine says.

    The machine was made of one stream to each state; here others lead there.
    """
    found = load(*suite)
    machine, _, _ = machine_of(found)
    random = Random(5)
    words = [long_word(machine, random) for _ in range(400)]
    visited = {machine.after(word[:end]) for word in words for end in range(len(word) + 1)}
    assert len(visited) > len(machine.steps) / 2
    for factory in (DeclaredReducer, Progress):
        result = run(found, PythonSubject("one of two", factory), words=words)
        assert (result.failure, result.tests) == (None, len(words))


def long_word(machine, random):
    """A word through states where much can still happen, and one letter more."""
    word, state = (), 0
    for _ in range(random.randint(3, 14)):
        lively = [
            letter
            for letter, target in enumerate(machine.steps[state])
            if len(set(machine.steps[target])) > 4
        ]
        word = (*word, random.choice(lively or range(machine.inputs)))
        state = machine.steps[state][word[-1]]
    return (*word, random.randrange(machine.inputs))


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
