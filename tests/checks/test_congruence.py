"""The abstractions of the exploration are congruences, and one that is none is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from doneness.generators.checks.congruence import incongruences
from doneness.generators.exploration import LAYERS, Layer
from doneness.generators.subject import own_subjects

SAMPLES = 40

CONGRUENT = [layer for layer in LAYERS if layer.congruent]
each_layer = pytest.mark.parametrize("layer", CONGRUENT, ids=lambda layer: layer.name)


@each_layer
def test_what_is_held_equal_behaves_alike(layer: Layer) -> None:
    found = next(incongruences(layer, seed=1, samples=SAMPLES), None)
    assert found is None, str(found)


@each_layer
def test_the_reducer_behaves_alike_behind_every_trace(layer: Layer) -> None:
    found = next(incongruences(layer, seed=2, samples=15, subject=own_subjects()[0]), None)
    assert found is None, str(found)


LIFECYCLE_LAYER, PAYLOADS, EVIDENCE, NUMBERS = CONGRUENT


def _forgets_cancel(oracle):  # type: ignore[no-untyped-def]
    return (oracle.state, tuple(sorted(oracle.tools.values())), oracle.waiting, bool(oracle.issues))


@pytest.mark.parametrize(
    "layer",
    [
        replace(LIFECYCLE_LAYER, key=_forgets_cancel),
        replace(LIFECYCLE_LAYER, key=lambda oracle: (oracle.state, len(oracle.tools))),
        replace(EVIDENCE, key=lambda oracle: (len(oracle.issues), oracle.closed)),
        replace(NUMBERS, key=lambda oracle: (min(oracle.last_seq, 1), oracle.closed)),
        replace(PAYLOADS, answers=lambda _template: True),
    ],
    ids=["cancel", "tools", "issues", "numbers", "payloads"],
)
def test_an_abstraction_that_is_too_coarse_is_found_out(layer: Layer) -> None:
    found = next(incongruences(layer, seed=3, samples=300), None)
    assert found is not None
    assert "held equal, but" in str(found)
