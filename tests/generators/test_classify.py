"""What classification reads out of events is what their makers know of them."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doneness.generators import strategies
from doneness.generators.classify import Reader, declared, moves, written
from doneness.generators.moves import TEMPLATES, play
from doneness.generators.oracle import END_OF_TRANSPORT, Move, Oracle
from doneness.generators.walks import access_paths, walk


def _as_read(move: Move) -> tuple[object, ...]:
    """What of a move decides; an event that was caught has no more to say than by what."""
    if move.caught is not None:
        return (move.caught,)
    # A maker of a bad payload, or of an unknown kind, has no need to say what is in it.
    args = dict(move.args) if move.trigger in GOOD else None
    return (move.trigger, move.seq, move.in_order, args, move.facts)


GOOD = {
    move.trigger
    for template in TEMPLATES
    if template.group == "kind" and (move := template.make(Oracle("r"))) and move.args
}


def test_every_template_in_all_sorts_of_states_is_read_as_it_was_made() -> None:
    made = 0
    for path in access_paths()[::6]:
        oracle = Oracle("run-A")
        play(oracle, path)
        for template in TEMPLATES:
            move = template.make(oracle)
            if move is not None:
                made += 1
                assert _as_read(Reader(oracle).move(move.event)) == _as_read(move), template.name
    assert made > 8_000


def test_random_walks_are_read_as_they_were_made() -> None:
    for seed in range(60):
        oracle = Oracle("run-A")
        made = play(oracle, walk(seed, 40))
        read = moves("run-A", [move.event for move in made])
        assert [_as_read(move) for move in read] == [_as_read(move) for move in made], seed
        said = declared("run-A", [move.event for move in made])
        assert said[-1].observables == oracle.observables()


SORTS = (
    strategies.admitted,
    strategies.bad_payloads,
    strategies.ends,
    strategies.foreign,
    strategies.from_templates,
    strategies.malformed,
    strategies.not_json,
    strategies.out_of_order,
    strategies.repeats,
    strategies.unknown_kinds,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_arbitrary_data_is_read_as_it_was_made(data: st.DataObject) -> None:
    oracle = Oracle("run-A")
    reader = Reader(oracle)
    for sort in data.draw(st.lists(st.sampled_from(SORTS), max_size=12)):
        move = data.draw(sort(oracle))
        if move is not None:
            assert _as_read(reader.move(move.event)) == _as_read(move)
            oracle.take(move)


def test_numbers_that_python_calls_equal_are_other_content() -> None:
    texts = [written({"a": value}) for value in (1, 1.0, True, "1", 0.0, -0.0, False, None)]
    assert all(one != other for i, one in enumerate(texts) for other in texts[:i])


def test_the_order_of_keys_is_no_content() -> None:
    assert written({"a": 1, "b": [{}]}) == written({"b": [{}], "a": 1})


def test_tokens_cannot_be_forged_by_text() -> None:
    assert written(["a", "b"]) != written(["a text b"])
    assert written([["a"], "b"]) != written([["a", "b"]])
    assert written({"a": "end"}) != written({"a": []})


def _event(id_: str, data: object, seq: int = 1) -> dict[str, object]:
    return {"run": "r", "id": id_, "seq": seq, "kind": "text.delta", "data": data}


def test_deep_nesting_is_read() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    said = declared("r", [_event("a", {"text": deep}), _event("a", {"text": deep})])
    assert said[-1].observables["duplicates"] == 1
    assert said[-1].observables["issues"] == ["bad_payload_or_transition"]


def test_cycles_and_nan_are_not_strict_json_and_their_ids_stay_free() -> None:
    cycle: dict[str, object] = {"text": "x"}
    cycle["more"] = [cycle]
    good = _event("a", {"text": "x"})
    for bad in (cycle, {"text": float("nan")}, {"text": -(10**4300)}, {"\ud800": 1}, {1: "x"}):
        said = declared("r", [_event("a", bad), good, good, END_OF_TRANSPORT])
        assert said[-1].observables["issues"] == ["not_json"]
        assert said[-1].observables["duplicates"] == 1
        assert said[-1].observables["text"] == "x"


def test_a_container_that_is_reached_twice_is_no_cycle() -> None:
    shared = ["x"]
    said = declared("r", [_event("a", {"text": "x", "more": [shared, shared]})])
    assert said[-1].observables["issues"] == ["bad_payload_or_transition"]
