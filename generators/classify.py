"""Reads concrete events into moves: what an event is, seen from the declaration.

The generators know what they made. A stream that came from elsewhere (a case, a log, a bug
report) does not say what its events are, so here they are read, by the declared steps of
admission and the declared payload shapes. It is a second mind beside the reducer: it shares no
code with `machine`, and compares contents naively, by writing each one out. That it says of the
generators' own events what the generators say of them is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from doneness.generators.oracle import END_OF_TRANSPORT, Decision, Move, Oracle
from doneness.spec import lifecycle, payloads
from doneness.spec.vocabulary import Kind, Outcome, Status

DIGITS_MAX: Final = 4300  # contract §3, step 3

_TOO_LARGE: Final = 10**DIGITS_MAX

_KEYS: Final = {"run", "id", "seq", "kind", "data"}


class Declared(NamedTuple):
    """What the declaration says after one event.

    Attributes:
        decision: The step or the row that decided.
        observables: All that a reducer must show now.
    """

    status: Status
    decision: Decision
    observables: dict[str, object]


def declared(run: str, events: Iterable[object]) -> list[Declared]:
    """What the declaration says of a stream, after each event; `END_OF_TRANSPORT` is EOF."""
    reader = Reader(Oracle(run))
    said = []
    for event in events:
        decision = reader.oracle.take(reader.move(event))
        said.append(Declared(reader.oracle.status, decision, reader.oracle.observables()))
    return said


def moves(run: str, events: Iterable[object]) -> list[Move]:
    """The moves that a stream consists of."""
    reader = Reader(Oracle(run))
    read = []
    for event in events:
        read.append(reader.move(event))
        reader.oracle.take(read[-1])
    return read


class Reader:
    """Reads the events of one run, one after the other, beside an oracle.

    Whoever reads a move hands it to the oracle before reading the next.

    Args:
        oracle: At the start of its run, or where it is with `contents` of what it remembers.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.contents = {id_: written(event) for id_, event in oracle.remembered.items()}

    def move(self, event: object) -> Move:
        """What an event is; remembers its content where the declaration does."""
        if event is END_OF_TRANSPORT:
            return Move("EOF", event, trigger=lifecycle.EOF)
        caught = self._caught(event)
        if caught is not None or not isinstance(event, dict):
            return Move(str(caught), event, caught=caught)
        kind, data, seq = str(event["kind"]), event["data"], int(event["seq"])
        trigger = _trigger(kind, data)
        return Move(
            trigger,
            event,
            trigger=trigger,
            seq=seq,
            in_order=seq == self.oracle.last_seq + 1,
            args=data,
            facts=frozenset(self._facts(trigger, data)),
        )

    def _caught(self, event: object) -> str | None:
        """The step of admission that stops an event; None if none does."""
        if not isinstance(event, dict) or not is_envelope(event):
            return "not_an_envelope"
        if event["run"] != self.oracle.run:
            return "another_run"
        try:
            content = written(event)
        except NotStrictError:
            return "not_strict_json"
        before = self.contents.setdefault(str(event["id"]), content)
        if before is content:
            return None
        return "same_id_same_content" if before == content else "same_id_other_content"

    def _facts(self, trigger: str, data: Mapping[str, object]) -> Iterable[str]:
        if trigger in lifecycle.ENDS and data["final_text"] is not None:
            yield "final_text"
        if trigger in (lifecycle.CHECKED_OK, lifecycle.CHECKED_NOT_OK):
            text = self.oracle.final_text
            if text is not None and data["digest"] == sha256(text.encode()).hexdigest():
                yield "digest_matches"


def is_envelope(event: dict[str, Any]) -> bool:
    """Whether an object has the form of contract §2: exactly these five keys, each of its type."""
    return (
        set(event) == _KEYS
        and all(isinstance(event[key], str) and event[key] for key in ("run", "id", "kind"))
        and isinstance(event["seq"], int)
        and not isinstance(event["seq"], bool)
        and event["seq"] >= 1
        and isinstance(event["data"], dict)
    )


# Payloads. The forms are the declared ones; what each form admits stands here once.

FITS: Final[Mapping[str, Callable[[object], bool]]] = {
    payloads.TEXT: lambda value: isinstance(value, str),
    payloads.NON_EMPTY: lambda value: isinstance(value, str) and value != "",
    payloads.NON_EMPTY_OR_NULL: lambda value: (
        value is None or (isinstance(value, str) and value != "")
    ),
    payloads.TEXT_OR_NULL: lambda value: value is None or isinstance(value, str),
    payloads.OUTCOME: lambda value: isinstance(value, str) and value in list(Outcome),
    payloads.FLAG: lambda value: isinstance(value, bool),
}


def _trigger(kind: str, data: Mapping[str, object]) -> str:
    if kind not in list(Kind):
        return lifecycle.UNKNOWN_KIND
    shape = payloads.SHAPES[Kind(kind)]
    good = data.keys() == shape.keys() and all(FITS[shape[key]](data[key]) for key in shape)
    if kind == Kind.APP_CHECKED:
        if not good:
            return lifecycle.CHECKED_BADLY
        return lifecycle.CHECKED_OK if data["ok"] else lifecycle.CHECKED_NOT_OK
    if not good:
        return lifecycle.BAD_PAYLOAD
    return f"{kind}/{data['outcome']}" if kind == Kind.RUN_ENDED else kind


# Contents, compared naively: written out whole, one token after the other.


class NotStrictError(ValueError):
    """The value has no strict JSON form."""


def written(value: object) -> list[str]:
    """A value as the tokens of its JSON text, keys in order; equal exactly when the content is.

    `1`, `1.0` and `true` are different tokens. The walk is iterative, whatever the nesting.

    Raises:
        NotStrictError: contract §3, step 3.
    """
    tokens: list[str] = []
    inside: set[int] = set()  # the containers that the walk is inside of, by identity
    ahead: list[tuple[str, object]] = [("value", value)]
    while ahead:
        what, value = ahead.pop()
        if what == "text":
            tokens.append(str(value))
        elif what == "leave":
            inside.discard(id(value))
            tokens.append("end")
        elif isinstance(value, (dict, list, tuple)):
            if id(value) in inside:
                raise NotStrictError("a cycle")
            inside.add(id(value))
            ahead.append(("leave", value))
            if isinstance(value, dict):
                tokens.append("{")
                ahead += _members(value)
            else:
                tokens.append("[")
                ahead += [("value", item) for item in reversed(value)]
        else:
            tokens.append(_scalar(value))
    return tokens


def _members(value: dict[object, object]) -> Iterable[tuple[str, object]]:
    if not all(isinstance(key, str) for key in value):
        raise NotStrictError("a key that is not text")
    for key in sorted(value, reverse=True, key=str):
        yield "value", value[key]
        yield "text", _scalar(key)


def _scalar(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise NotStrictError("text that cannot be written as UTF-8") from None
        return f"text {value}"
    if isinstance(value, int):
        if abs(value) >= _TOO_LARGE:
            raise NotStrictError("an integer of too many digits")
        return f"integer {value:x}"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):  # NaN
            raise NotStrictError("not a finite number")
        return f"float {value!r}"
    raise NotStrictError("not a JSON value")
