"""The alphabet: every kind of event that a reducer must tell apart, made from the declaration.

Each template makes its event from the *oracle's* state, never from the reducer's: the next seq,
the id to repeat, the digest to get wrong all come from what the declaration holds to be true. A
reducer that forgets to count is so found out by the next event.

The ids and texts chosen stand for all others; `generators.checks.congruence` tests that claim,
and the Hypothesis machines replace them by arbitrary ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from doneness.generators.oracle import END_OF_TRANSPORT, Move, Oracle
from doneness.spec import lifecycle
from doneness.spec.payloads import SHAPES
from doneness.spec.vocabulary import Kind, Outcome

CALLS: Final = ("c1", "c2")
RESPONSE: Final = "r"
TEXT: Final = "x"
FINAL_TEXT: Final = "F"
ODD_TEXT: Final = " \N{LATIN SMALL LETTER E}\N{COMBINING ACUTE ACCENT}\r\n"
"""Text that changes when it is trimmed, normalised, or its line ends are."""


@dataclass(frozen=True, slots=True)
class Template:
    """A way to make a move from what the oracle holds; None where there is none.

    Attributes:
        group: What the template varies: `kind`, `payload`, `envelope`, `order`, `repeat`,
            `foreign`, `json` or `eof`.
    """

    name: str
    group: str
    make: Callable[[Oracle], Move | None]


def envelope(oracle: Oracle, kind: object, data: object, **changes: object) -> dict[str, Any]:
    """The next envelope of the oracle's run, as its producer would write it, under a new id."""
    seq = oracle.last_seq + 1
    id_ = f"{oracle.run}:{seq}"
    while id_ in oracle.remembered:
        id_ += "'"
    return {
        "run": oracle.run,
        "id": id_,
        "seq": seq,
        "kind": str(kind),
        "data": data,
        **changes,
    }


def trigger_of(kind: str, data: dict[str, Any]) -> str:
    """What a good payload of a kind means to the lifecycle."""
    if kind == Kind.RUN_ENDED:
        return f"{kind}/{data['outcome']}"
    if kind == Kind.APP_CHECKED:
        return lifecycle.CHECKED_OK if data["ok"] else lifecycle.CHECKED_NOT_OK
    return kind


def digest_of(text: str | None) -> str:
    """The digest that binds a verdict to a text; some other digest without one."""
    return sha256(("" if text is None else text).encode()).hexdigest()


def good(oracle: Oracle, name: str, kind: str, data: dict[str, Any], **changes: object) -> Move:
    """An admitted move in order, whose payload has the declared form."""
    facts = set()
    if data.get("final_text") is not None:
        facts.add("final_text")
    if oracle.final_text is not None and data.get("digest") == digest_of(oracle.final_text):
        facts.add("digest_matches")
    event = envelope(oracle, kind, data, **changes)
    return Move(
        name,
        event,
        trigger=trigger_of(kind, data),
        seq=event["seq"],
        args=data,
        facts=frozenset(facts),
    )


def eof() -> Move:
    """The end of the connection."""
    return Move("EOF", END_OF_TRANSPORT, trigger=lifecycle.EOF)


# What a good event can say. A callable stands for a value that depends on the oracle's state.

_KINDS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("text", Kind.TEXT_DELTA, {"text": TEXT}),
    ("empty text", Kind.TEXT_DELTA, {"text": ""}),
    ("non-ASCII text", Kind.TEXT_DELTA, {"text": "合\U0001f600"}),
    ("response completed", Kind.MODEL_COMPLETED, {"response_id": RESPONSE}),
    ("response unresolved", Kind.MODEL_UNRESOLVED, {"response_id": RESPONSE, "reason": "cut"}),
    ("some response unresolved", Kind.MODEL_UNRESOLVED, {"response_id": None, "reason": ""}),
    *(
        (f"{kind.removeprefix('tool.')} {call}", kind, {"call_id": call})
        for call in CALLS
        for kind in lifecycle.CALLS
    ),
    ("approval wait", Kind.APPROVAL_WAIT, {}),
    ("cancel requested", Kind.CANCEL_REQUESTED, {}),
    *(
        (f"{outcome} {label}", Kind.RUN_ENDED, {"outcome": str(outcome), "final_text": text})
        for outcome in Outcome
        for label, text in (("with text", FINAL_TEXT), ("without text", None))
    ),
    ("succeeded with empty text", Kind.RUN_ENDED, {"outcome": "succeeded", "final_text": ""}),
    ("succeeded with odd text", Kind.RUN_ENDED, {"outcome": "succeeded", "final_text": ODD_TEXT}),
    ("odd text", Kind.TEXT_DELTA, {"text": ODD_TEXT}),
    *(
        (f"check {label} {verdict}", Kind.APP_CHECKED, {"digest": digest, "ok": ok})
        for verdict, ok in (("ok", True), ("not ok", False))
        for label, digest in (
            ("right", lambda oracle: digest_of(oracle.final_text)),
            ("of another text", lambda oracle: digest_of(f"{oracle.final_text} ")),
            ("in upper case", lambda oracle: digest_of(oracle.final_text).upper()),
            ("without digest", ""),
        )
    ),
)

# What a payload must not be: for each kind, one departure from its shape at a time.

_WRONG: Final[dict[str, tuple[object, ...]]] = {
    "text": (42, None, ["x"]),
    "non-empty text": ("", 7, None, True),
    "non-empty text, or null": ("", 7, False),
    "text, or null": (0, False, ["F"], {}),
    "an outcome": ("done", "", "Succeeded", None, 1, ["succeeded"]),
    "true or false": (1, 0, "true", None, 1.0),
}

_SAMPLE: Final[dict[str, object]] = {
    "text": TEXT,
    "non-empty text": CALLS[0],
    "non-empty text, or null": RESPONSE,
    "text, or null": FINAL_TEXT,
    "an outcome": "succeeded",
    "true or false": True,
}


def _bad_payloads() -> Iterable[tuple[str, str, dict[str, Any]]]:
    for kind, shape in SHAPES.items():
        sample = {
            key: (lambda oracle: digest_of(oracle.final_text)) if key == "digest" else _SAMPLE[form]
            for key, form in shape.items()
        }
        yield f"{kind} with a key too many", kind, {**sample, "more": 1}
        for key, form in shape.items():
            yield f"{kind} without {key}", kind, {k: v for k, v in sample.items() if k != key}
            for wrong in _WRONG[form]:
                yield f"{kind} with {key}={wrong!r}", kind, {**sample, key: wrong}


_UNKNOWN_KINDS: Final = ("future.completed", "text", "TEXT.DELTA", "run.ended ", "adapter.other")

# What an envelope must not be. Each entry changes a good one.

_NOT_ENVELOPES: Final[tuple[tuple[str, dict[str, Any] | None], ...]] = (
    ("no run", {"run": ...}),
    ("no id", {"id": ...}),
    ("no seq", {"seq": ...}),
    ("no kind", {"kind": ...}),
    ("no data", {"data": ...}),
    ("a key too many", {"unexpected": True}),
    ("another key instead", {"data": ..., "payload": {}}),
    ("empty run", {"run": ""}),
    ("empty id", {"id": ""}),
    ("empty kind", {"kind": ""}),
    ("run is a number", {"run": 1}),
    ("id is a number", {"id": 1}),
    ("kind is null", {"kind": None}),
    ("seq 0", {"seq": 0}),
    ("seq negative", {"seq": -1}),
    ("seq true", {"seq": True}),
    ("seq is a float", {"seq": 1.0}),
    ("seq is text", {"seq": "1"}),
    ("seq null", {"seq": None}),
    ("data is a list", {"data": []}),
    ("data is null", {"data": None}),
    ("data is text", {"data": "{}"}),
    ("of another run, without kind", {"run": "other", "kind": ...}),
)

_NOT_OBJECTS: Final[tuple[object, ...]] = ([], "event", 0, True, 1.5)


def _malformed(name: str, changes: dict[str, Any]) -> Template:
    def make(oracle: Oracle) -> Move:
        event = {**envelope(oracle, Kind.TEXT_DELTA, {"text": TEXT}), **changes}
        event = {key: value for key, value in event.items() if value is not ...}
        return Move(f"not an envelope: {name}", event, caught="not_an_envelope")

    return Template(f"not an envelope: {name}", "envelope", make)


def _fixed(name: str, group: str, move: Move) -> Template:
    return Template(name, group, lambda _oracle: move)


def _kind(name: str, kind: str, data: dict[str, Any]) -> Template:
    return Template(name, "kind", lambda oracle: good(oracle, name, kind, filled(oracle, data)))


def filled(oracle: Oracle, data: dict[str, Any]) -> dict[str, Any]:
    """A payload whose callables are asked what the oracle's state makes of them."""
    return {key: value(oracle) if callable(value) else value for key, value in data.items()}


def _bad_payload(name: str, kind: str, data: dict[str, Any]) -> Template:
    trigger = lifecycle.CHECKED_BADLY if kind == Kind.APP_CHECKED else lifecycle.BAD_PAYLOAD

    def make(oracle: Oracle) -> Move:
        event = envelope(oracle, kind, filled(oracle, data))
        return Move(name, event, trigger=trigger, seq=event["seq"])

    return Template(name, "payload", make)


def _unknown(kind: str) -> Template:
    def make(oracle: Oracle) -> Move:
        event = envelope(oracle, kind, {})
        return Move(f"kind {kind!r}", event, trigger=lifecycle.UNKNOWN_KIND, seq=event["seq"])

    return Template(f"kind {kind!r}", "kind", make)


# Order: what its number says. The event itself is the same good one.


def _order(name: str, seq_of: Callable[[int], int]) -> Template:
    def make(oracle: Oracle) -> Move | None:
        seq = seq_of(oracle.last_seq)
        if seq < 1 or seq == oracle.last_seq + 1:
            return None
        fresh = f"{oracle.run}:{name}:{len(oracle.remembered)}"
        event = envelope(oracle, Kind.TEXT_DELTA, {"text": TEXT}, id=fresh, seq=seq)
        return Move(
            name,
            event,
            trigger=Kind.TEXT_DELTA,
            seq=seq,
            in_order=False,
            args=event["data"],
        )

    return Template(name, "order", make)


def _other_id(oracle: Oracle) -> Move:
    # An id that no producer of ours would give, in order: the id is free text.
    name = "text under a free id"
    fresh = f"free-{len(oracle.remembered)}"
    return good(oracle, name, Kind.TEXT_DELTA, {"text": TEXT}, id=fresh)


def _next_ahead(oracle: Oracle) -> Move:
    # The id that a producer gives to a later event, taken early.
    name = "text under a later id"
    ahead = f"{oracle.run}:{oracle.last_seq + 2}"
    if ahead in oracle.remembered:
        return _other_id(oracle)
    return good(oracle, name, Kind.TEXT_DELTA, {"text": TEXT}, id=ahead)


def _earlier_id(oracle: Oracle) -> Move | None:
    # The id that a producer would have given to an earlier event, which had another.
    for seq in range(1, oracle.last_seq + 1):
        unused = f"{oracle.run}:{seq}"
        if unused not in oracle.remembered:
            name = "text under an earlier id"
            return good(oracle, name, Kind.TEXT_DELTA, {"text": TEXT}, id=unused)
    return None


# Repeats: the id was seen before.


def _repeat(
    name: str, which: int, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Template:
    def make(oracle: Oracle) -> Move | None:
        events = list(oracle.remembered.values())
        if not events or (which == 0 and len(events) == 1):
            return None
        event = events[which]
        if not isinstance(event, dict):
            return None
        changed = change(event)
        if changed is None:
            return None
        same = changed == event and repr_of(changed) == repr_of(event)
        caught = "same_id_same_content" if same else "same_id_other_content"
        return Move(name, changed, caught=caught)

    return Template(name, "repeat", make)


def repr_of(value: object) -> str:
    """A text that tells apart what JSON tells apart, the order of keys aside."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{repr_of(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(repr_of, value)) + "]"
    return repr(value)


def _backwards(event: dict[str, Any]) -> dict[str, Any]:
    data = dict(reversed(event["data"].items()))
    return dict(reversed({**event, "data": data}.items()))


def _other_kind(kind: str) -> str:
    return str(Kind.CANCEL_REQUESTED if kind == Kind.APPROVAL_WAIT else Kind.APPROVAL_WAIT)


def _with_data(event: dict[str, Any], **more: object) -> dict[str, Any]:
    return {**event, "data": {**event["data"], **more}}


def _as_number(event: dict[str, Any]) -> dict[str, Any] | None:
    """True as 1, and 1 as 1.0: other content, though many a comparison takes it for the same."""
    other = {
        key: int(value) if isinstance(value, bool) else float(value) if value == 1 else value
        for key, value in event["data"].items()
    }
    return None if repr_of(other) == repr_of(event["data"]) else {**event, "data": other}


_REPEATS: Final = (
    ("the last again", -1, dict),
    ("the first again", 0, dict),
    ("the last again, keys in another order", -1, _backwards),
    ("the last id, other data", -1, lambda event: _with_data(event, text="y")),
    ("the first id, other data", 0, lambda event: _with_data(event, text="y")),
    ("the last id, true as 1 and 1 as 1.0", -1, _as_number),
    ("the last id, more data", -1, lambda event: _with_data(event, more=1)),
    ("the last id, other seq", -1, lambda event: {**event, "seq": event["seq"] + 1}),
    ("the last id, other kind", -1, lambda event: {**event, "kind": _other_kind(event["kind"])}),
)


def _foreign(name: str, run_of: Callable[[str], str]) -> Template:
    def make(oracle: Oracle) -> Move:
        event = envelope(
            oracle,
            Kind.RUN_ENDED,
            {"outcome": "succeeded", "final_text": FINAL_TEXT},
            run=run_of(oracle.run),
        )
        return Move(name, event, caught="another_run")

    return Template(name, "foreign", make)


def _cycle() -> dict[str, object]:
    cycle: dict[str, object] = {"text": TEXT}
    cycle["self"] = [cycle]
    return cycle


_NOT_JSON: Final[tuple[tuple[str, object, bool], ...]] = (
    # name, data, whether it can be sent as JSON text all the same
    ("NaN", {"text": float("nan")}, False),
    ("an infinity", {"text": [float("inf")]}, False),
    ("minus infinity", {"text": {"deep": float("-inf")}}, False),
    ("a cycle", _cycle(), False),
    ("a key that is a number", {"text": TEXT, "more": {1: 2}}, False),
    ("a key that is not text", {1: TEXT}, False),
    ("an integer of 4,301 digits", {"text": 10**4300}, False),
    ("a negative integer of 4,301 digits", {"text": -(10**4300)}, False),
    ("bytes", {"text": b"x"}, False),
    ("a set", {"text": {1}}, False),
    ("half a surrogate pair", {"text": "\ud800"}, True),
    ("half a surrogate pair in a key", {"\udfff": 1}, True),
)


def _not_json(name: str, data: object, as_json: bool) -> Template:
    def make(oracle: Oracle) -> Move:
        event = envelope(oracle, Kind.TEXT_DELTA, data)
        return Move(f"not JSON: {name}", event, caught="not_strict_json", json=as_json)

    return Template(f"not JSON: {name}", "json", make)


def _surrogate_id(oracle: Oracle) -> Move:
    event = envelope(oracle, Kind.TEXT_DELTA, {"text": TEXT}, id="\ud800")
    return Move("not JSON: half a surrogate pair in the id", event, caught="not_strict_json")


def _long_integer(oracle: Oracle) -> Move:
    name = "an integer of 4,300 digits in a bad payload"
    event = envelope(oracle, Kind.TEXT_DELTA, {"text": 10**4300 - 1})
    return Move(name, event, trigger=lifecycle.BAD_PAYLOAD, seq=event["seq"], json=False)


TEMPLATES: Final[tuple[Template, ...]] = (
    *(_kind(*row) for row in _KINDS),
    Template("text under a free id", "kind", _other_id),
    Template("text under a later id", "kind", _next_ahead),
    *(_unknown(kind) for kind in _UNKNOWN_KINDS),
    _fixed("EOF", "eof", eof()),
    *(_bad_payload(*row) for row in _bad_payloads()),
    *(_malformed(name, changes) for name, changes in _NOT_ENVELOPES if changes),
    *(
        _fixed(
            f"not an envelope: {value!r}",
            "envelope",
            Move(f"not an envelope: {value!r}", value, caught="not_an_envelope"),
        )
        for value in _NOT_OBJECTS
    ),
    Template("text under an earlier id", "order", _earlier_id),
    _order("a gap by one", lambda last: last + 2),
    _order("a large gap", lambda last: last + 1000),
    _order("a repeat of the last seq", lambda last: last),
    _order("an older seq", lambda last: last - 1),
    *(_repeat(*row) for row in _REPEATS),
    _foreign("another run", lambda run: f"{run}-other"),
    _foreign("another run, its name a prefix", lambda run: run[:-1] or "other"),
    *(_not_json(*row) for row in _NOT_JSON),
    Template("not JSON: half a surrogate pair in the id", "json", _surrogate_id),
    Template("an integer of 4,300 digits in a bad payload", "payload", _long_integer),
)

BY_NAME: Final = {template.name: template for template in TEMPLATES}


def play(
    oracle: Oracle,
    templates: Sequence[Template],
    takes: Callable[[Move], bool] = lambda _move: True,
) -> list[Move]:
    """Let the oracle take what the templates make, one after the other; skip what cannot be."""
    moves = []
    for template in templates:
        move = template.make(oracle)
        if move is not None and takes(move):
            oracle.take(move)
            moves.append(move)
    return moves
