"""The agent loop against its declaration: the same sequences of events, neither more nor fewer.

The subject here is the project's own loop, without I/O; it asks, and a script answers.
"""

from __future__ import annotations

from collections import Counter

import pytest

from doneness.generators import api_rules
from doneness.generators.loop_oracle import LoopOracle, trigger_of
from doneness.generators.loop_scripts import Caps, drive, legal_sequences, scripts, shape
from doneness.machine.agent.tracked import TrackedRun
from doneness.spec.loop import AGENT_LOOP, STOP
from doneness.spec.table import Row

pytestmark = pytest.mark.model

CAPS = Caps(rounds=2, tokens_a_round=2, calls_a_round=2)

ROWS = [row for row in AGENT_LOOP.rows if row.refused is None]
PAIRS = {(state, trigger) for row in ROWS for state in row.sources for trigger in row.triggers}
CELLS = {(state.name, trigger) for state in AGENT_LOOP.states for trigger in AGENT_LOOP.triggers}


def valid(messages):
    assert api_rules.faults(messages) == []


def test_the_loop_yields_exactly_the_sequences_that_are_declared(model_row):
    """Nothing illegal happens, and all that is legal can happen, within the caps."""
    allowed = {shape(sequence) for sequence in legal_sequences(CAPS)}
    oracle = LoopOracle(CAPS.rounds)
    yielded, taken = set(), set()
    pairs: Counter[tuple[str, str]] = Counter()
    for number, script in enumerate(scripts(CAPS)):
        whole = drive(script, CAPS.rounds, at_model_call=valid)
        yielded.add(shape(whole))
        for events in (whole, whole[: number % len(whole)]):
            oracle.reset()
            for event in events:
                pairs[oracle.state, trigger_of(event)] += 1
                taken.add(oracle.take(event))
            for _ in range(2):  # a consumer may close what it has closed
                pairs[oracle.state, STOP] += 1
                taken.add(oracle.stop())
    model_row.update(
        layer="agent loop",
        subject="own/loop",
        claim="the declared state; legal pairs only, since a loop takes no events; "
        f"caps: {CAPS.rounds} rounds, {CAPS.tokens_a_round} tokens and {CAPS.calls_a_round} calls "
        "a round",
        states=f"{len({state for state, _ in pairs})}/{len(AGENT_LOOP.states)}",
        transitions=f"{len(taken)}/{len(ROWS)}",
        pairs=f"{len(pairs)}/{len(PAIRS)}",
        joint=len(yielded),
        edges=pairs.total(),
        coverage={"loop": {"|".join(pair): count for pair, count in pairs.items()}},
    )
    assert yielded - allowed == set(), "the loop says what is not declared"
    assert allowed - yielded == set(), "the loop cannot say what is declared"
    assert [row for row in ROWS if row not in taken] == [], "transitions that never fired"
    assert PAIRS - set(pairs) == set(), "pairs that were never exercised"


def test_adapted_and_reduced_no_run_is_done_before_the_application_has_checked_it():
    """Every script, whole and stopped somewhere: the status follows from how far the run got."""
    for number, script in enumerate(scripts(CAPS)):
        whole = drive(script, CAPS.rounds)
        limit = script[-1].ends == "calls"
        for events in (whole, whole[: number % len(whole)]):
            tracked = TrackedRun("r")
            for event in events:
                tracked.feed(event)
                assert tracked.progress.status != "done"
            tracked.close()
            ends = {"done": "checking", "error": "incomplete" if limit else "failed"}
            last = str(events[-1]["type"]) if events else ""
            assert tracked.progress.status == ends.get(last, "unknown")
            assert tracked.progress.issues == []


def variants(made):
    """Events of every type to try after `made`, right and wrong."""
    rounds = sum(event["type"] == "iteration_start" for event in made)
    starts = [event for event in made if event["type"] == "tool_start"]
    yield from ({"type": "iteration_start", "iteration": n} for n in (rounds, rounds + 1))
    yield from ({"type": kind} for kind in ("token", "usage", "done", "error", "thinking"))
    yield {"type": "tool_start", "call_id": "new", "name": "t"}
    yield from starts
    yield {"type": "tool_result", "call_id": "other", "name": "t"}
    yield from ({**start, "type": "tool_result"} for start in starts)


def test_every_cell_of_the_declaration_decides_and_every_row_fires():
    """The judge is no rubber stamp: each refusal can happen, and refuses."""
    caps = Caps(rounds=2, tokens_a_round=1, calls_a_round=1)
    oracle = LoopOracle(caps.rounds)
    prefixes = {
        shape(sequence[:end]): sequence[:end]
        for sequence in legal_sequences(caps)
        for end in range(len(sequence) + 1)
    }
    cells: set[tuple[str, str]] = set()
    rows: set[Row] = set()
    for made in prefixes.values():
        for stopped in (False, True):
            oracle.reset()
            rows.update(oracle.take(event) for event in made)
            if stopped:
                cells.add((oracle.state, STOP))
                rows.add(oracle.stop())
            here = oracle.mark()
            for event in variants(made):
                cells.add((oracle.state, trigger_of(event)))
                row = oracle.take(event)
                rows.add(row)
                if row.refused is not None:
                    assert oracle.mark() == here, "a refusal changes nothing"
                oracle.back_to(here)
            cells.add((oracle.state, STOP))
            rows.add(oracle.stop())
    assert CELLS - cells == set(), "cells that were never tried"
    assert [row for row in AGENT_LOOP.rows if row not in rows] == [], "rows that never fired"
