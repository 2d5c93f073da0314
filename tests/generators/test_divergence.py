"""What was found is shown, also where it does not show in the usual way, or not again."""

from __future__ import annotations

from itertools import count

import pytest

from doneness.fixtures.cases import load
from doneness.generators.checks import long_streams, short_streams
from doneness.generators.divergence import compare, shortest_of, shrink
from doneness.generators.exploration import LAYERS, RUN, explore
from doneness.generators.keeping import tried
from doneness.generators.moves import BY_NAME, play
from doneness.generators.oracle import Oracle
from doneness.generators.subject import PythonSubject
from doneness.machine import Progress


class Batches:
    """Draws when it is looked at: of two approvals since the last look it has only the second."""

    def __init__(self, run):
        self.inner, self.queue = Progress(run), []

    def feed(self, event):
        kinds = [one.get("kind") for one in (*self.queue[-1:], event) if isinstance(one, dict)]
        if kinds == ["approval.wait"] * 2:
            self.queue.pop()
        self.queue.append(event)

    def close_transport(self):
        self.draw()
        self.inner.close_transport()

    def draw(self):
        for event in self.queue:
            self.inner.feed(event)
        self.queue.clear()

    @property
    def status(self):
        self.draw()
        return self.inner.status

    @property
    def issues(self):
        self.draw()
        return self.inner.issues


class Chance(Progress):
    """Loses one event in a hundred, whichever stream it is part of."""

    fed = count(1)

    def feed(self, event):
        if next(self.fed) % 101:
            super().feed(event)


LETTERS = [BY_NAME[name] for name in ("text", "approval wait", "approval wait", "text")]


def test_a_fault_that_reading_hides_is_shown_unread():
    """Nothing is wrong where each event is looked at; shortened, it needs two events."""
    subject = PythonSubject("Batches", Batches)
    assert compare(subject, "a check", RUN, play(Oracle(RUN), LETTERS)) is None
    found = shrink(subject, "a check", RUN, LETTERS)
    assert [line.move.name for line in found.lines] == ["approval wait"] * 2
    assert "(not read)" in found.table()
    assert found.case()["shown_steps"] == ["not read", "unknown"]


def test_its_case_fails_when_it_is_tried_again(tmp_path):
    """It is replayed as it was found."""
    subject = PythonSubject("Batches", Batches)
    [case] = load(shrink(subject, "a check", RUN, LETTERS).write(tmp_path))
    assert tried(case, subject) is not None
    assert tried(case, PythonSubject("right", Progress)) is None


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_what_exploration_finds_is_always_shown(layer):
    """Also what does not come again; and that is said."""
    subject = PythonSubject("Chance", Chance)
    [difference] = explore(subject, layer).differences
    found = shortest_of(subject, "a check", RUN, difference)
    assert found.lines[-1].differs
    assert found.repeats or "does not show it" in found.table()


def test_what_streams_find_is_always_shown():
    """The same for short streams and long ones."""
    subject = PythonSubject("Chance", Chance)
    for check, families in (
        (short_streams.check_streams, short_streams.FAMILIES),
        (long_streams.check_long, long_streams.FAMILIES),
    ):
        for family, streams in families.items():
            tried_, found = check(subject, family, streams())
            assert found is not None or tried_ < 101


class Forgets(Progress):
    """Knows the first event for a hundred others."""

    def feed(self, event):
        is_old = isinstance(event, dict) and self.last_seq - event["seq"] >= 100
        super().feed({**event, "id": "new"} if is_old else event)


def test_many_rows_that_are_alike_are_folded():
    """A table of a hundred events is read in a glance."""
    letters = [BY_NAME["text"]] * 101 + [BY_NAME["the first again"]]
    found = shrink(PythonSubject("Forgets", Forgets), "a check", RUN, letters)
    rows = found.table().splitlines()
    assert len(found.lines) == 102
    assert len(rows) < 10
    assert "(99 more like these)" in rows[2]
