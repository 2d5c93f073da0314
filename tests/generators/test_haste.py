"""A subject that has failed already gets little time, and nobody else less than all of it."""

from __future__ import annotations

from doneness.generators.checks import properties, short_streams
from doneness.generators.exploration import LAYERS, RUN, explore
from doneness.generators.haste import Haste
from doneness.generators.subject import own_subjects
from doneness.generators.walks import walk


def test_in_haste_a_check_ends_before_it_is_through():
    """And it is known that it did."""
    own, numbers = own_subjects()[0], LAYERS[3]
    haste = Haste(0.0)
    found = explore(own, numbers, haste=haste)
    assert haste.was_cut
    assert not found.complete
    assert found.states < explore(own, numbers).states
    haste = Haste(0.0)
    names = short_streams.FAMILIES["names"]()
    assert short_streams.check_streams(own, "names", names, haste) == (0, None)
    assert haste.was_cut
    walks = [walk(number, 4) for number in range(60)]
    assert 0 < len(properties.stories(own, RUN, walks, Haste(0.0))) < len(walks)
    assert len(properties.stories(own, RUN, walks)) == len(walks)


def test_who_has_all_the_time_is_never_cut():
    """Nor is who has enough of it."""
    for haste in (Haste(), Haste(600.0)):
        assert not haste.is_over()
        assert explore(own_subjects()[0], LAYERS[4], haste=haste).complete
        assert not haste.was_cut
