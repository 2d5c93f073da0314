"""Hypothesis machines: any data, on one run and on a board of many."""

from __future__ import annotations

import pytest

from doneness.generators import strategies
from doneness.generators.stateful import MACHINES, SORTS, run_machine
from doneness.generators.subject import own_subjects

pytestmark = pytest.mark.model


@pytest.mark.late(5, "random data")
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_random_data_finds_no_divergence(
    machine,
    model_subject,
    model_seed,
    model_examples,
    model_database,
    model_row,
    keeps_contract,
):
    """Whatever data the events carry, the subject shows what the declaration says.

    Bytes are parsed into the same objects, so our own reducer gets half as many examples as bytes.
    """
    if model_subject is own_subjects()[1]:
        model_examples = (model_examples + 1) // 2
    fired, divergence = run_machine(
        machine,
        model_subject,
        seed_value=model_seed,
        examples=model_examples,
        database=model_database,
    )
    possible = {sort.__name__ for sort in SORTS[machine]}
    if model_subject.json_only:
        possible.discard(strategies.not_json.__name__)
    model_row.update(
        layer=f"random data/{machine.__name__}",
        subject=model_subject.name,
        transitions=f"{len(fired)}/{len(possible)} rules",
        edges=sum(fired.values()),
        examples=model_examples,
    )
    keeps_contract(divergence)
    assert sorted(possible - set(fired)) == [], "rules that never fired"
