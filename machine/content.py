"""The content of an event as a fingerprint: equal exactly when the strict JSON is equal.

Whatever object a host passes in, nothing of it is ever *called*: types are asked with
`type()`, values are read through the base classes' own slots, so a hostile `__eq__`, `__hash__`
or `__class__` never runs. The walk is iterative (100,000 levels are no deeper than one), and a
container that is reached twice is read once, so shared structure costs what it weighs.

A container's fingerprint is a hash over its children's. `1`, `1.0` and `true` differ, the order
of an object's keys does not matter, and what is remembered of an event is small and constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final, NamedTuple, cast

DIGITS_MAX: Final = 4300
"""Integers with more decimal digits are not strict JSON here (contract §3, step 3)."""

_TOO_LARGE: Final = 10**DIGITS_MAX
_CONSTANTS: Final = {None: b"n", True: b"t", False: b"f"}


class NotJSONError(ValueError):
    """The value has no strict JSON form (contract §3, step 3)."""


def own_text(value: object) -> str | None:
    """The text that a `str`, or an instance of a subclass, really holds; else None."""
    if type(value) is str:
        return value
    return str.__str__(value) if issubclass(type(value), str) else None


def own_integer(value: object) -> int | None:
    """The integer that an `int`, or an instance of a subclass, really holds.

    None for anything else, and for a boolean, which is not an integer here.
    """
    if type(value) is bool or not issubclass(type(value), int):
        return None
    return int.__pos__(value)  # type: ignore[arg-type] # narrowed by issubclass above


def own_object(value: object) -> dict[str, object] | None:
    """A plain copy, one level deep, of a `dict` whose keys are all text; else None."""
    if not issubclass(type(value), dict):
        return None
    copy: dict[str, object] = {}
    for key, child in dict.items(cast("dict[object, object]", value)):
        name = own_text(key)
        if name is None or name in copy:
            return None
        copy[name] = child
    return copy


class _Frame(NamedTuple):
    """A container being read: what is left of it, and the encoding of what was read."""

    identity: int
    unread: Iterator[tuple[bytes, object]]
    encoded: list[bytes]


def fingerprint(value: object) -> bytes:
    """A fingerprint of `value` as strict JSON, 21 bytes.

    Tuples count as arrays; instances of subclasses count as what they hold.

    Raises:
        NotJSONError: NaN, an infinity, a cycle, a key that is not text, an integer of more
            than `DIGITS_MAX` digits, text that cannot be written as UTF-8, or another type.
    """
    frames = [_Frame(0, iter([(b"", value)]), [b"="])]
    finished: dict[int, bytes | None] = {}  # by identity; None while the container is open
    while True:
        identity, unread, encoded = frames[-1]
        for name, child in unread:
            encoded.append(name)
            leaf = _leaf(child)
            if leaf is None:
                if id(child) not in finished:
                    finished[id(child)] = None
                    frames.append(_opened(child))
                    break
                leaf = finished[id(child)]
                if leaf is None:
                    raise NotJSONError("a cycle")
            encoded.append(leaf)
        else:
            digest = b"#" + blake2b(b"".join(encoded), digest_size=20).digest()
            frames.pop()
            if not frames:
                return digest
            finished[identity] = digest
            frames[-1].encoded.append(digest)


def _opened(container: object) -> _Frame:
    if issubclass(type(container), dict):
        members = own_object(container)
        if members is None:
            raise NotJSONError("an object whose keys are not distinct text")
        named = ((_text(name), members[name]) for name in sorted(members))
        return _Frame(id(container), named, [b"{"])
    items = (
        list.__iter__(cast("list[object]", container))
        if issubclass(type(container), list)
        else tuple.__iter__(cast("tuple[object, ...]", container))
    )
    return _Frame(id(container), ((b"", item) for item in items), [b"["])


def _leaf(value: object) -> bytes | None:
    """The encoding of a scalar; None for a container."""
    kind = type(value)
    if kind is dict or kind is list:
        return None
    text = own_text(value)
    if text is not None:
        return _text(text)
    if value is None or kind is bool:
        return _CONSTANTS[value]  # type: ignore[index] # one of three values
    integer = own_integer(value)
    if integer is not None:
        if not -_TOO_LARGE < integer < _TOO_LARGE:
            raise NotJSONError(f"an integer of more than {DIGITS_MAX} digits")
        return b"i%x;" % integer
    if issubclass(kind, float):
        number = float.__pos__(value)  # type: ignore[arg-type]
        if number - number != 0.0:
            raise NotJSONError("NaN or an infinity")
        return b"d" + float.__repr__(number).encode() + b";"
    if issubclass(kind, (dict, list, tuple)):
        return None
    raise NotJSONError("a type that JSON does not have")


def _text(text: str) -> bytes:
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise NotJSONError("text that cannot be written as UTF-8") from None
    return b"s%d:%b" % (len(encoded), encoded)
