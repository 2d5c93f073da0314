"""The loop and its declaration: neither says anything that the other does not."""

from __future__ import annotations

from itertools import product

import pytest

from doneness.generators import api_rules
from doneness.generators.loop_oracle import LoopOracle, objections
from doneness.generators.loop_scripts import Caps, drive, scripts, shape
from doneness.machine.agent.conversation import Event, Message
from doneness.spec.loop import AGENT_LOOP, LIVE, OVER, STOPPED
from doneness.spec.table import Model, machine_of

CAPS = Caps(rounds=2, tokens_a_round=2, calls_a_round=2)


def valid(messages: list[Message]) -> None:
    assert api_rules.faults(messages) == []


def test_how_a_run_ends_follows_from_what_the_model_did() -> None:
    """Whoever made the script knows: only a whole answer is done."""
    for script in scripts(CAPS):
        expected = "done" if script[-1].ends == "answer" else "error"
        assert drive(script, CAPS.rounds)[-1]["type"] == expected


def test_a_consumer_may_stop_anywhere_and_is_not_shown_as_done() -> None:
    caps = Caps(rounds=2, tokens_a_round=1, calls_a_round=2)
    oracle = LoopOracle(caps.rounds)
    for script in scripts(caps):
        whole = drive(script, caps.rounds)
        for count in range(len(whole)):
            events = drive(script, caps.rounds, stop_after=count, at_model_call=valid)
            assert shape(events) == shape(whole[:count])
            oracle.reset()
            assert all(oracle.take(event).refused is None for event in events)
            oracle.stop()
            assert oracle.state == STOPPED


BEGIN: Event = {"type": "iteration_start", "iteration": 1}
TOKEN: Event = {"type": "token", "content": "x"}
USAGE: Event = {"type": "usage"}
START: Event = {"type": "tool_start", "call_id": "a", "name": "t"}
RESULT: Event = {"type": "tool_result", "call_id": "a", "name": "t"}
DONE: Event = {"type": "done"}
ERROR: Event = {"type": "error"}
NEXT: Event = {"type": "iteration_start", "iteration": 2}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([], id="nothing"),
        pytest.param([BEGIN], id="no end"),
        pytest.param([DONE], id="done without a model call"),
        pytest.param([ERROR], id="an error without a model call"),
        pytest.param([NEXT, DONE], id="counting from 2"),
        pytest.param([BEGIN, BEGIN, DONE], id="a model call in a model call"),
        pytest.param([BEGIN, USAGE, TOKEN, DONE], id="text after the usage"),
        pytest.param([BEGIN, USAGE, USAGE, DONE], id="two usages"),
        pytest.param([BEGIN, START, DONE], id="done with a tool running"),
        pytest.param([BEGIN, START, ERROR], id="an error with a tool running"),
        pytest.param([BEGIN, START, TOKEN, RESULT, NEXT, DONE], id="text while a tool runs"),
        pytest.param([BEGIN, RESULT, NEXT, DONE], id="a result without its start"),
        pytest.param([BEGIN, START, RESULT, RESULT, NEXT, DONE], id="two results"),
        pytest.param([BEGIN, START, RESULT, DONE], id="done right after a tool"),
        pytest.param([BEGIN, START, RESULT, ERROR], id="a failed tool as a failed run"),
        pytest.param([BEGIN, START, RESULT, START, RESULT, NEXT, DONE], id="an id used twice"),
        pytest.param(
            [BEGIN, START, {**RESULT, "call_id": "b"}, NEXT, DONE], id="the result of another call"
        ),
        pytest.param(
            [BEGIN, START, {**START, "call_id": "b"}, RESULT, NEXT, DONE], id="two tools at once"
        ),
        pytest.param([BEGIN, DONE, DONE], id="done twice"),
        pytest.param([BEGIN, DONE, ERROR], id="an error after done"),
        pytest.param([BEGIN, ERROR, NEXT, DONE], id="going on after an error"),
        pytest.param([BEGIN, {"type": "thinking"}, DONE], id="an unknown type"),
        pytest.param(
            [
                *(BEGIN, START, RESULT, NEXT),
                *({**START, "call_id": "b"}, {**RESULT, "call_id": "b"}),
                *({"type": "iteration_start", "iteration": 3}, DONE),
            ],
            id="beyond the round limit",
        ),
    ],
)
def test_a_wrong_loop_is_noticed(events: list[Event]) -> None:
    assert objections(events, rounds_max=2) != []


def test_the_machine_and_the_table_decide_alike_and_every_cell_is_decided() -> None:
    for values in product((False, True), repeat=len(AGENT_LOOP.facts)):
        facts = dict(zip(AGENT_LOOP.facts, values, strict=True))
        model = Model(facts)
        machine = machine_of(AGENT_LOOP, model)
        for state, trigger in product(AGENT_LOOP.states, AGENT_LOOP.triggers):
            rows = AGENT_LOOP.rows_for(state.name, trigger)
            firm = [row for row in rows if not row.otherwise]
            holding = [
                row
                for row in firm
                if all(facts[g.removeprefix("not ")] != g.startswith("not ") for g in row.guards)
            ]
            assert len(holding) <= 1, f"{trigger} in {state.name} is decided twice"
            decided = AGENT_LOOP.decide(state.name, trigger, facts.__getitem__)
            machine.set_state(state.name)
            model.trigger(trigger)
            assert model.happened[-1] is decided
            assert model.state == (state.name if decided.target is None else decided.target)


def test_a_stop_ends_a_live_run_and_nothing_else() -> None:
    for state in (*LIVE, *OVER):
        row = AGENT_LOOP.decide(state, "consumer_stops", lambda _fact: False)
        assert (row.refused, row.target) == (None, STOPPED if state in LIVE else None)
