"""Streams beyond exploration: short ones full of odd data, and long ones."""

from __future__ import annotations

import pytest

from doneness.generators.checks import growth, long_streams, sharing, short_streams
from doneness.generators.subject import own_subjects

pytestmark = pytest.mark.model

comes_first = pytest.mark.late(-1, "the time that a run takes")
comes_late = pytest.mark.late(1, "streams beyond exploration")
comes_later = pytest.mark.late(2, "streams beyond exploration")


MANY = ("strays", "behind", "everything again")
"""Families of many streams."""


SHORT = [
    pytest.param(family, marks=comes_later if family in MANY else comes_late)
    for family in short_streams.FAMILIES
]


@pytest.mark.parametrize("family", SHORT)
def test_short_streams_find_no_divergence(
    family, model_subject, model_row, model_haste, keeps_contract
):
    """After every event of every stream the subject shows what is declared."""
    if family in (*MANY, "few times", "plenty") and model_subject is own_subjects()[1]:
        pytest.skip("bytes are parsed into the same objects; their states are tried above")
    check = f"streams/{family}"
    streams = short_streams.FAMILIES[family]()
    tried, divergence = short_streams.check_streams(model_subject, check, streams, model_haste)
    model_row.update(layer=check, subject=model_subject.name, examples=tried)
    keeps_contract(divergence)
    if model_haste.was_cut:
        pytest.skip(f"left out: the rest of {check}, since {model_subject.name} is slow")


@comes_later
@pytest.mark.parametrize("family", long_streams.FAMILIES)
def test_long_streams_find_no_divergence(family, model_subject, model_row, keeps_contract):
    """At the end of every long stream the subject shows what is declared."""
    check = f"long streams/{family}"
    streams = long_streams.FAMILIES[family]()
    tried, divergence = long_streams.check_long(model_subject, check, streams)
    model_row.update(layer=check, subject=model_subject.name, examples=tried)
    keeps_contract(divergence)


@comes_later
@pytest.mark.parametrize("family", sharing.FAMILIES)
def test_nothing_is_shared(family, model_subject, model_row, keeps_contract):
    """A caller that changes its events, and other reducers at the same time, do not show."""
    model_row.update(layer=f"sharing/{family}", subject=model_subject.name)
    found = sharing.check_sharing(model_subject, family)
    if found is None:
        pytest.skip(f"left out: {family}, since the subject shares no memory with the kit")
    tried, divergence = found
    model_row.update(examples=tried)
    keeps_contract(divergence)


@comes_first
def test_time_is_linear_in_the_run(model_subject, model_row):
    """Whoever copies all that it holds at each event is found out before a user's browser is."""
    model_row.update(layer="growth", subject=model_subject.name, examples=growth.TIMES)
    found = growth.faster_than_the_run(model_subject)
    if found is not None:
        pytest.fail(f"{model_subject.name}: {found}", pytrace=False)


@pytest.mark.late(3, "streams beyond exploration")
def test_nothing_is_lost_in_a_long_run(model_subject, model_row):
    """After thousands of events the first of them is still known."""
    if model_subject is own_subjects()[1]:
        pytest.skip("bytes are parsed into the same objects; the run is tried above")
    model_row.update(layer="a long run", subject=model_subject.name, examples=1)
    found = growth.lost_in_the_run(model_subject)
    if found is not None:
        pytest.fail(f"{model_subject.name}: {found}", pytrace=False)
