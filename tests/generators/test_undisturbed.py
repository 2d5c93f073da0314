"""Checks that trace what runs see nothing of what the collector of garbage sets off."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from doneness.generators.checks.parts import PARTS, own_machine


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """Every few objects garbage is collected, and some code here is told."""
    phases: list[str] = []

    def listen(phase: str, _details: object) -> None:
        told = phase
        phases.append(told)

    threshold = gc.get_threshold()
    gc.callbacks.append(listen)
    gc.set_threshold(1)
    yield phases
    gc.set_threshold(*threshold)
    gc.callbacks.remove(listen)


@pytest.mark.parametrize("part", ["costs", "interrupts"])
def test_a_listener_disturbs_no_check(part: str, heard: list[str]) -> None:
    assert list(PARTS[part](own_machine())) == []
    assert heard
