"""The named properties P1 to P9, each under its own name."""

from __future__ import annotations

from random import Random

import pytest

from doneness.generators.checks import properties
from doneness.generators.checks.hostile import in_process, raised, unexpected
from doneness.generators.exploration import RUN
from doneness.generators.subject import own_subjects
from doneness.generators.walks import walk

pytestmark = pytest.mark.model

WALKS = 1_500
WALK_EVENTS = 8
INSERTED = 400


@pytest.fixture(scope="session")
def all_told(model_subject, model_seed, haste_of):
    """What the subject showed on many random walks."""
    walks = [walk(model_seed + number, WALK_EVENTS) for number in range(WALKS)]
    return properties.stories(model_subject, RUN, walks, haste_of(model_subject))


@pytest.fixture(scope="session")
def told(all_told):
    """Those of the walks on which the subject answered; P8 judges the others."""
    stories = [story for story in all_told if all("failure" not in one for one in story.shown)]
    if not stories:
        pytest.skip("left out: properties of what is shown, since the subject shows nothing")
    return stories


@pytest.fixture
def holds(model_row, model_subject, keeps_property):
    """Say what was tried, and fail on a breach."""

    def check(rule, breach, stories=WALKS):
        model_row.update(layer=f"property/{rule}", subject=model_subject.name, examples=stories)
        keeps_property(rule, model_subject.name, breach)

    return check


@pytest.fixture
def each_holds(holds, model_subject):
    """Try a property on each story; a breach is shortened before it is shown."""

    def check(rule, judge, stories):
        breach = earliest(map(judge, stories))
        if breach is not None:
            breach = properties.shortened(model_subject, breach, judge)
        holds(rule, breach)

    return check


def needs(told, *observables):
    """Leave a property out, and say so, where the subject does not show what it needs."""
    shown = told[0].shown[0]
    missing = [name for name in observables if name not in shown]
    if missing:
        pytest.skip(f"left out: the subject does not show {', '.join(missing)}")


def earliest(breaches):
    """The breach after the fewest events: that is short even where it does not come again."""
    told = [breach for breach in breaches if breach is not None]
    return min(told, key=lambda breach: (breach.was_not_run, breach.index), default=None)


def first(breaches):
    """The first breach, if there is one."""
    return next((breach for breach in breaches if breach is not None), None)


def test_p1_done_is_earned(told, each_holds):
    """P1: done only after an uncontradicted success and an ok check bound to it."""
    each_holds("P1", properties.p1_done_is_earned, told)


def test_p2_issues_stay(told, each_holds):
    """P2: an issue is for good."""
    needs(told, "issues")
    each_holds("P2", properties.p2_issues_stay, told)


@pytest.mark.parametrize(
    ("rule", "names", "counter"),
    [
        ("P3", properties.DUPLICATES, "duplicates"),
        ("P4", properties.FOREIGN, "foreign"),
    ],
    ids=["p3_duplicates", "p4_foreign"],
)
def test_p3_p4_inserted_events_change_one_counter(
    told, holds, model_subject, model_seed, model_haste, rule, names, counter
):
    """P3, P4: inserting duplicates, or foreign events, changes their count alone."""
    random = Random(model_seed)
    holds(
        rule,
        first(
            properties.inserted(model_subject, story, names, counter, random)
            for story in told[:INSERTED]
            if not model_haste.is_over()
        ),
        INSERTED,
    )
    if model_haste.was_cut:
        pytest.skip(f"left out: the rest of {rule}, since {model_subject.name} has failed already")


def test_p5_eof_makes_no_success(told, each_holds):
    """P5: EOF never makes a success."""
    each_holds("P5", properties.p5_eof_makes_no_success, told)


def test_p6_terminal_stays(told, each_holds):
    """P6: a terminal is never replaced."""
    needs(told, "terminal")
    each_holds("P6", properties.p6_terminal_stays, told)


def test_p7_no_success_with_an_open_call(told, each_holds):
    """P7: no success with an open call."""
    needs(told, "tools")
    each_holds("P7", properties.p7_no_success_with_an_open_call, told)


def test_p8_nothing_raises(all_told, each_holds):
    """P8: nothing raises on the walks."""
    each_holds("P8", properties.p8_nothing_raises, all_told)


@pytest.mark.late(4, "hostile objects")
def test_p8_hostile_objects(model_subject, model_row, keeps_property):
    """P8: nothing raises, whatever object it is; of our own reducer we know more."""
    subject = in_process(model_subject)
    model_row.update(layer="property/P8, hostile objects", subject=model_subject.name)
    if subject is None:
        pytest.skip("left out: hostile objects, since events reach the subject as JSON")
    if model_subject in own_subjects():
        assert unexpected(subject) == []
    else:
        keeps_property("P8", model_subject.name, first(raised(subject)))


def test_p9_status_follows_from_the_facts(told, holds, model_subject):
    """P9: the status is a function of the facts."""
    needs(told, "issues", "terminal", "verdict", "waiting", "cancel_requested", "closed")
    breach = properties.p9_status_follows_from_the_facts(told)
    holds("P9", breach and properties.as_short(model_subject, breach))
