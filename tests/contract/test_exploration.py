"""The product of declaration and reducer, explored to a fixpoint, layer by layer."""

from __future__ import annotations

import pytest

from doneness.generators.divergence import shortest_of
from doneness.generators.exploration import LAYERS, RUN, explore
from doneness.generators.subject import own_subjects
from doneness.spec.admission import STEPS
from doneness.spec.lifecycle import LIFECYCLE

pytestmark = pytest.mark.model

PAIRS = {(state.name, trigger) for state in LIFECYCLE.states for trigger in LIFECYCLE.triggers}
CATCHES = {step.catches for step in STEPS if step.stops}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_exploration_finds_no_divergence(
    layer, model_subject, model_row, model_haste, keeps_contract
):
    """In every joint state every event leaves the subject as the declaration says."""
    if model_subject is own_subjects()[1] and not layer.parsing:
        pytest.skip("bytes are parsed into the same objects; their states are explored above")
    found = explore(model_subject, layer, haste=model_haste)
    states = {state for state, _ in found.pairs}
    model_row.update(
        layer=f"exploration/{layer.name}",
        subject=model_subject.name,
        claim=layer.claim,
        states=f"{len(states)}/{len(LIFECYCLE.states)}",
        pairs=f"{len(found.pairs)}/{len(PAIRS)}",
        transitions=f"{len(found.rows)}/{len(LIFECYCLE.rows)}",
        joint=found.states,
        edges=found.edges,
        coverage={"lifecycle": {"|".join(pair): n for pair, n in found.pairs.items()}},
    )
    for difference in found.differences:
        keeps_contract(shortest_of(model_subject, f"exploration/{layer.name}", RUN, difference))
    if model_haste.was_cut:
        rest = f"the rest of exploration/{layer.name}"
        pytest.skip(f"left out: {rest}, since {model_subject.name} has failed already")
    assert found.complete, "the fixpoint was not reached"


def test_the_layers_exercise_all_there_is():
    """Every (state, trigger) pair, every row and every step of admission is exercised."""
    explored = [explore(None, layer) for layer in LAYERS]
    pairs = {pair for found in explored for pair in found.pairs}
    rows = {row for found in explored for row in found.rows}
    steps = {step for found in explored for step in found.steps}
    assert sorted(PAIRS - pairs) == [], "pairs that were never exercised"
    assert sorted(set(range(len(LIFECYCLE.rows))) - rows) == [], "rows that never fired"
    assert sorted(CATCHES - steps) == [], "steps that never caught anything"
