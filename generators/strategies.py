"""Moves over concrete data: any Unicode, any JSON, any number, for what exploration abstracts away.

Each strategy makes an event *of a known sort* from the oracle's state, so the move says what it
is. Data is drawn as JSON has it; what JSON cannot say is drawn apart, and only for subjects that
take objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from hypothesis import strategies as st

from doneness.generators.moves import TEMPLATES, digest_of, envelope, eof, good, repr_of
from doneness.generators.oracle import Move, Oracle
from doneness.spec import lifecycle
from doneness.spec.payloads import SHAPES
from doneness.spec.vocabulary import Kind, Outcome

texts: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Any text that can be written as UTF-8: a lone surrogate cannot."""

_ALIKE: Final = ("c1", "c1 ", " c1", "C1", "c1\n", "\xe9", "e\u0301", "\uff43\uff11")
"""Names that become equal when they are trimmed, folded or normalised."""

names: Final = st.sampled_from(["c1", "c2", "c3"]) | st.sampled_from(_ALIKE) | texts.filter(bool)

scalars: Final = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)

json_values: Final = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

_FORMS: Final[Mapping[str, st.SearchStrategy[object]]] = {
    "text": texts,
    "non-empty text": names,
    "non-empty text, or null": st.none() | names,
    "text, or null": st.none() | texts,
    "an outcome": st.sampled_from([str(outcome) for outcome in Outcome]),
    "true or false": st.booleans(),
}

_FITS: Final[Mapping[str, Callable[[object], bool]]] = {
    "text": lambda value: isinstance(value, str),
    "non-empty text": lambda value: isinstance(value, str) and value != "",
    "non-empty text, or null": lambda value: (
        value is None or (isinstance(value, str) and value != "")
    ),
    "text, or null": lambda value: value is None or isinstance(value, str),
    "an outcome": lambda value: isinstance(value, str) and value in set(Outcome),
    "true or false": lambda value: isinstance(value, bool),
}


@st.composite
def admitted(draw: st.DrawFn, oracle: Oracle) -> Move:
    """The next event of the run, good in form; often under a free id."""
    kind = draw(st.sampled_from(list(SHAPES)))
    data = {key: draw(_FORMS[form]) for key, form in SHAPES[kind].items()}
    if kind == Kind.APP_CHECKED and draw(st.booleans()):
        data["digest"] = digest_of(oracle.final_text)
    changes = {}
    if draw(st.integers(0, 3)) == 0:
        changes["id"] = draw(names.filter(lambda name: name not in oracle.remembered))
    return good(oracle, f"{kind} {data}", kind, data, **changes)


@st.composite
def bad_payloads(draw: st.DrawFn, oracle: Oracle) -> Move:
    """The next event of the run, with data that departs from its kind's shape in one place."""
    kind = draw(st.sampled_from(list(SHAPES)))
    shape = SHAPES[kind]
    data: dict[str, object] = {key: draw(_FORMS[form]) for key, form in shape.items()}
    flaw = draw(
        st.sampled_from(["more", *(f"{how} {key}" for key in shape for how in ("no", "bad"))])
    )
    if flaw == "more":
        data[draw(texts.filter(lambda key: key not in shape))] = draw(json_values)
    else:
        how, key = flaw.split(" ")
        del data[key]
        if how == "bad":
            fits = _FITS[shape[key]]
            data[key] = draw(json_values.filter(lambda value: not fits(value)))
    trigger = lifecycle.CHECKED_BADLY if kind == Kind.APP_CHECKED else lifecycle.BAD_PAYLOAD
    event = envelope(oracle, kind, data)
    return Move(f"{kind} {data!r:.60}", event, trigger=trigger, seq=event["seq"])


@st.composite
def unknown_kinds(draw: st.DrawFn, oracle: Oracle) -> Move:
    """The next event of the run, of a kind that the contract does not have, with any data."""
    kind = draw(texts.filter(lambda text: text != "" and text not in set(Kind)))
    event = envelope(oracle, kind, draw(st.dictionaries(texts, json_values, max_size=3)))
    return Move(f"kind {kind!r}", event, trigger=lifecycle.UNKNOWN_KIND, seq=event["seq"])


@st.composite
def out_of_order(draw: st.DrawFn, oracle: Oracle) -> Move:
    """A good fragment whose number is not the next one."""
    last = oracle.last_seq
    seq = draw(st.integers(1, last + 5) | st.integers(1, 2**70))
    if seq == last + 1:
        seq += 1
    text = draw(texts)
    new = f"{oracle.run}#{len(oracle.remembered)}"
    event = envelope(oracle, Kind.TEXT_DELTA, {"text": text}, seq=seq, id=new)
    return Move(
        f"seq {seq} after {last}",
        event,
        trigger=Kind.TEXT_DELTA,
        seq=seq,
        in_order=False,
        args=event["data"],
    )


@st.composite
def repeats(draw: st.DrawFn, oracle: Oracle) -> Move | None:
    """An event that was fed before: as it was, its keys shuffled, or with something changed."""
    if not oracle.remembered:
        return None
    before: Any = deepcopy(draw(st.sampled_from(list(oracle.remembered.values()))))
    what = draw(st.sampled_from(["same", "keys", "seq", "kind", "data", "number"]))
    after = deepcopy(before)
    if what == "keys":
        after = dict(draw(st.permutations(list(before.items()))))
    elif what == "seq":
        after["seq"] = draw(st.integers(1, 2**70))
    elif what == "kind":
        after["kind"] = draw(texts.filter(bool))
    elif what == "data":
        after["data"] = draw(st.dictionaries(texts, json_values, max_size=2))
    elif what == "number":
        after["data"] = {key: _other_number(value) for key, value in before["data"].items()}
    same = repr_of(after) == repr_of(before)
    caught = "same_id_same_content" if same else "same_id_other_content"
    return Move(f"{before['id']!r} again ({what})", after, caught=caught)


def _other_number(value: object) -> object:
    """Another number that Python calls equal, where there is one: 1, 1.0 and true differ."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and abs(value) < 2**50:
        return float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**50:
        return int(value)
    return value


@st.composite
def foreign(draw: st.DrawFn, oracle: Oracle) -> Move:
    """A good-looking event of another run."""
    run = draw(texts.filter(lambda text: text not in ("", oracle.run)))
    seq = draw(st.integers(1, 2**70))
    kind, data = draw(texts.filter(bool)), draw(st.dictionaries(texts, json_values, max_size=2))
    event = {"run": run, "id": draw(names), "seq": seq, "kind": kind, "data": data}
    return Move(f"of run {run!r}", event, caught="another_run")


@st.composite
def malformed(draw: st.DrawFn, oracle: Oracle) -> Move:
    """Any JSON value that is not an envelope."""
    event: Any = envelope(oracle, Kind.TEXT_DELTA, {"text": draw(texts)})
    flaw = draw(st.sampled_from(["no key", "more", "bad value", "no object"]))
    if flaw == "no object":
        event = draw(json_values.filter(_is_no_object))
    elif flaw == "more":
        event[draw(texts.filter(lambda key: key not in event))] = draw(json_values)
    else:
        key = draw(st.sampled_from(list(event)))
        value = draw(json_values.filter(lambda value: not _ENVELOPE_FITS[key](value)))
        event = {**event, key: value}
        if flaw == "no key":
            del event[key]
    return Move(f"not an envelope: {event!r:.50}", event, caught="not_an_envelope")


def _is_no_object(value: object) -> bool:
    return value is not None and not isinstance(value, dict)  # None stands for EOF in a trace


_ENVELOPE_FITS: Final[Mapping[str, Callable[[object], bool]]] = {
    "run": _FITS["non-empty text"],
    "id": _FITS["non-empty text"],
    "kind": _FITS["non-empty text"],
    "seq": lambda value: type(value) is int and value >= 1,
    "data": lambda value: isinstance(value, dict),
}

_NOT_JSON_LEAVES: Final = st.sampled_from(
    [float("nan"), float("inf"), float("-inf"), 10**4300, b"", {1}, object(), 1j, range(2)]
)


@st.composite
def not_json(draw: st.DrawFn, oracle: Oracle) -> Move:
    """An envelope with something in its data, however deep, that JSON does not have."""
    bad: object = draw(_NOT_JSON_LEAVES | st.just("\ud800"))
    for wrap in draw(st.lists(st.sampled_from(["list", "object", "key"]), max_size=4)):
        if wrap == "list":
            bad = [draw(json_values), bad]
        elif wrap == "object":
            bad = {draw(texts): bad}
        else:
            bad = {draw(st.integers() | st.none() | st.booleans()): bad}
    event = envelope(oracle, draw(texts.filter(bool)), {draw(texts): bad})
    return Move("not JSON", event, caught="not_strict_json", json=False)


@st.composite
def from_templates(draw: st.DrawFn, oracle: Oracle) -> Move | None:
    """Any letter of the alphabet."""
    return draw(st.sampled_from(TEMPLATES)).make(oracle)


def ends(_oracle: Oracle) -> st.SearchStrategy[Move]:
    """The end of the connection."""
    return st.just(eof())


def seen_by_another(move: Move) -> Move:
    """What a move of one run is to the reducer of another."""
    if move.caught == "not_an_envelope":
        return move
    return Move(f"of another run: {move.name}", move.event, caught="another_run", json=move.json)
