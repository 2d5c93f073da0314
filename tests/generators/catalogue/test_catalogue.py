"""The catalogue of wrong reducers: each is found, quickly, and the page says how."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from doneness.generators.catalogue.common import Wrong
from doneness.generators.catalogue.listing import CATALOGUE, failure, found, page
from doneness.generators.exploration import LAYERS, explore
from doneness.generators.subject import PythonSubject

EVENTS_MAX = 6
REPORT = re.compile(r"\([\w.-]+/[\w.-]+(#| PR #)\d+(; [\w.-]+/[\w.-]+(#| PR #)\d+)*\)\.$")
PAGE = Path(__file__).parents[3] / "docs" / "catalogue.md"


def test_there_are_enough():
    """At least twenty, each with its failure and where it was seen."""
    assert len(CATALOGUE) >= 20
    assert all(all(failure(name)) for name in CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_was_really_seen(name):
    """In public: a report or a change that anybody can look up."""
    assert REPORT.search(failure(name)[1])


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_wrong_reducer_is_found_with_few_events(name):
    """By exploration at its default settings, with a stream of at most six events."""
    _, divergence = found(name)
    assert 1 <= len(divergence.lines) <= EVENTS_MAX
    assert divergence.lines[-1].differs


def test_what_they_have_in_common_is_right():
    """So each is wrong by its own change alone."""
    subject = PythonSubject("common", Wrong, flat=True)
    assert [explore(subject, layer).differences for layer in LAYERS] == [[]] * len(LAYERS)


@pytest.mark.slow
def test_the_page_is_what_the_command_writes():
    """`doneness catalogue --into docs/catalogue.md` changes nothing."""
    assert PAGE.read_text("utf-8") == "\n".join(page()) + "\n"
