"""What a transport may know of an envelope: its place in the run's log, and its bytes.

These are the questions of the reducer's first steps (contract §3, 1 to 4), asked again in front of
it: only an envelope of this run that is strict JSON has a place in the order. Everything else has
none, and is the reducer's to judge.
"""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import msgspec

from doneness.machine.content import fingerprint, own_integer, own_object, own_text

_KEYS: Final = frozenset({"run", "id", "seq", "kind", "data"})
_COMMA: Final = (True, b",")


class Placed(NamedTuple):
    """An envelope that has a place in the order of its run.

    Attributes:
        content: Equal for two envelopes of one id exactly when the second is a duplicate.
    """

    id: str
    seq: int
    kind: str
    data: dict[str, object]
    content: bytes


def placed(event: object, run: str) -> Placed | None:
    """The place of `event` in `run`; None if it has none. Never raises."""
    try:
        members = own_object(event)
        if members is None or members.keys() != _KEYS:
            return None
        named, id_, kind = (own_text(members[key]) for key in ("run", "id", "kind"))
        seq, data = own_integer(members["seq"]), own_object(members["data"])
        if named != run or not (id_ and kind) or seq is None or seq < 1 or data is None:
            return None
        id_.encode()
        return Placed(id_, seq, kind, data, fingerprint([seq, kind, data]))
    except Exception:  # noqa: BLE001 # not JSON, or another thread changes it: no place
        return None


def line_of(envelope: object) -> bytes:
    """An envelope that has a place, as compact JSON in UTF-8 without a line end.

    What is read back has the same content, at any depth.
    """
    try:
        return msgspec.json.encode(envelope)
    except Exception:  # noqa: BLE001 # deep nesting, long integers, subclasses: see below
        return _written_slowly(envelope)


def _written_slowly(value: object) -> bytes:
    parts: list[bytes] = []
    unwritten: list[tuple[bool, object]] = [(False, value)]  # the next is the last; True: written
    while unwritten:
        is_written, item = unwritten.pop()
        if is_written:
            parts.append(cast("bytes", item))
        elif (members := own_object(item)) is not None:
            pieces: list[tuple[bool, object]] = []
            for name, child in members.items():
                pieces += [_COMMA, (True, msgspec.json.encode(name) + b":"), (False, child)]
            unwritten += [(True, b"}"), *reversed(pieces[1:]), (True, b"{")]
        elif issubclass(type(item), (list, tuple)):
            pieces = []
            for child in cast("list[object]", item):
                pieces += [_COMMA, (False, child)]
            unwritten += [(True, b"]"), *reversed(pieces[1:]), (True, b"[")]
        else:
            parts.append(_scalar(item))
    return b"".join(parts)


def _scalar(value: object) -> bytes:
    text = own_text(value)
    if text is not None:
        return msgspec.json.encode(text)
    integer = own_integer(value)
    if integer is not None:
        return b"%d" % integer
    return msgspec.json.encode(value if value is None or type(value) is bool else float(value))  # type: ignore[arg-type]
