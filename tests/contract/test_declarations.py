"""The declarations themselves: sound as tables, and the same as real machines."""

from __future__ import annotations

import pytest

from doneness.generators.checks.congruence import incongruences
from doneness.generators.checks.declaration import (
    cells,
    declarations,
    differences_from_machine,
    lint,
)
from doneness.generators.exploration import LAYERS

pytestmark = pytest.mark.model

SAMPLES = 20

each_declaration = pytest.mark.parametrize(
    "declaration", declarations(), ids=lambda declaration: declaration.name
)


@each_declaration
def test_declaration_is_sound(declaration, model_row):
    """Every pair is decided once, every state can be reached and can end, every name is known."""
    found = lint(declaration)
    count = len(declaration.states)
    pairs = count * len(declaration.triggers)
    undecided = {finding.where for finding in found if finding.rule == "undecided-pair"}
    unreached = sum(finding.rule == "unreachable-state" for finding in found)
    dead = sum(finding.rule == "dead-row" for finding in found)
    model_row.update(
        layer=f"declaration/{declaration.name}",
        subject="lint",
        states=f"{count - unreached}/{count}",
        transitions=f"{len(declaration.rows) - dead}/{len(declaration.rows)}",
        pairs=f"{pairs - len(undecided)}/{pairs}",
    )
    assert not found, "\n".join(map(str, found))


@each_declaration
def test_table_and_transitions_machine_answer_alike(declaration, model_row):
    """In every cell (state, trigger, facts) the `transitions` machine takes the table's row."""
    count = cells(declaration)
    found = differences_from_machine(declaration)
    model_row.update(
        layer=f"declaration/{declaration.name}",
        subject="transitions machine",
        examples=f"{count} cells",
    )
    assert not found, "\n".join(map(str, found))


@pytest.mark.parametrize(
    "layer", [layer for layer in LAYERS if layer.congruent], ids=lambda layer: layer.name
)
def test_what_the_exploration_holds_equal_behaves_alike(layer, model_row, model_seed):
    """Two traces to the same abstract state: every event is decided by the same rule there."""
    found = next(incongruences(layer, model_seed, SAMPLES), None)
    model_row.update(layer=f"exploration/{layer.name}", subject="congruence", examples=SAMPLES)
    assert found is None, str(found)
