"""Declaration and reducer agree on many random streams, in all that can be observed."""

from __future__ import annotations

import json

import pytest

from doneness.generators.exploration import agrees
from doneness.generators.oracle import OBSERVABLES, Oracle
from doneness.generators.walks import walk
from doneness.machine import Progress

STREAMS = 20_000
EVENTS = 10


@pytest.mark.slow
def test_twenty_thousand_random_streams() -> None:
    """Half of them as objects, half as bytes; compared at their ends and at one place before."""
    for seed in range(STREAMS):
        oracle, progress = Oracle("run-A"), Progress("run-A")
        templates = walk(seed, EVENTS)
        for place, template in enumerate(templates, 1):
            move = template.make(oracle)
            if move is None or (seed % 2 and not move.json):
                continue
            oracle.take(move)
            if move.event is None:
                progress.close_transport()
            elif seed % 2:
                progress.feed_json(json.dumps(move.event).encode())
            else:
                progress.feed(move.event)
            if place in (len(templates) // 2, len(templates)):
                shown = {name: getattr(progress, name) for name in OBSERVABLES}
                assert agrees(oracle.observables(), shown), [one.name for one in templates[:place]]
