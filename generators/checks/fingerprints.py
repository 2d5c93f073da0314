"""Fingerprints of small values: equal exactly where the strict JSON is the same.

All values of a small size are made, from leaves that are easily confused. What is the same is
decided by a text that tells apart what JSON tells apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.moves import repr_of

BYTES: Final = 21

LEAVES: Final[tuple[object, ...]] = (
    None, True, False, 0, 1, -1, 2, 10, 16, 17, 256, 10**18, 10**30, 10**4300 - 1, 1 - 10**4300,
    0.0, 1.0, -1.0, 0.5, 1e16, 1e308, 5e-324,
    "", "a", "b", "ab", "ba", "1", "n", "t", "a:b", "s1:a", "é", "\U0001f600", "\x00", "#", "{",
)  # fmt: skip


class Words(str):
    """Text of a subclass."""

    __slots__ = ()


class Number(int):
    """An integer of a subclass."""


class Fraction(float):
    """A float of a subclass."""

    __slots__ = ()


class Members(dict[str, object]):
    """An object of a subclass."""


class Items(list[object]):
    """An array of a subclass."""


SAME: Final[tuple[tuple[object, object], ...]] = (
    ((1, 2), [1, 2]),
    ((), []),
    (Words("ab"), "ab"),
    (Number(7), 7),
    (Fraction(0.5), 0.5),
    (Members(a=1), {"a": 1}),
    (Items([1]), [1]),
    ({Words("a"): 1}, {"a": 1}),
    ({"x": 1, "y": [2], "z": {}}, {"z": {}, "y": [2], "x": 1}),
)

NO_JSON: Final[tuple[object, ...]] = (
    float("nan"), float("inf"), float("-inf"), 10**4300, -(10**4300), b"x", {1}, 1j, object(), ...,
    {1: 2}, {None: 1}, {True: 1}, {"a": 1, 2: 3}, "\ud800", "a\udfff", {"\ud800": 1}, [["\udc00"]],
    {"a": [float("nan")]}, range(2), bytearray(b"x"), {"a": 1, Words("a" * 1): 2}.keys(),
)  # fmt: skip

_CYCLE: Final[list[object]] = []
_CYCLE.append({"again": [_CYCLE]})
_OWN_MEMBER: Final[dict[str, object]] = {}
_OWN_MEMBER["self"] = _OWN_MEMBER
CYCLES: Final[tuple[object, ...]] = (_CYCLE, [_CYCLE], _OWN_MEMBER, {"a": 1, "b": [_OWN_MEMBER]})


@cache
def values() -> tuple[object, ...]:
    """Small values; some of them the same."""
    few = (0, 1, "", "a", "ab", None, True)
    made: list[object] = [*LEAVES, [], {}]
    made += [[leaf] for leaf in LEAVES]
    made += [{"a": leaf} for leaf in LEAVES]
    made += [{leaf: 1} for leaf in LEAVES if isinstance(leaf, str)]
    made += [list(pair) for pair in product(few, repeat=2)]
    made += [list(three) for three in product(few[:4], repeat=3)]
    made += [{"a": one, "b": other} for one, other in product(few, repeat=2)]
    made += [{"b": one, "a": other} for one, other in product(few, repeat=2)]
    made += [dict(pair) for pair in permutations((("a", 1), ("ab", 2), ("b", 3)))]
    nested: tuple[object, ...] = (
        [],
        [[]],
        {},
        [{}],
        {"a": {}},
        {"a": []},
        ["a"],
        [["a"]],
        {"a": "b"},
    )
    made += [[one, other] for one, other in product(nested, repeat=2)]
    made += [{"a": one, "b": other} for one, other in product(nested, repeat=2)]
    shared = ["x"]
    made += [[shared, shared], [shared, [shared]], [["x"], ["x"]], {"a": shared, "b": shared}]
    return tuple(made)


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """Values whose fingerprints are not what they should be."""
    fingerprint = machine.content.fingerprint
    by_content: dict[str, object] = {}
    by_fingerprint: dict[object, str] = {}
    for value in values():
        content, shown = repr_of(value), _fingerprint(fingerprint, value)
        if not isinstance(shown, bytes) or len(shown) != BYTES:
            yield f"{content[:60]}: expected {BYTES} bytes, got {shown!r:.60}"
        if by_content.setdefault(content, shown) != shown:
            yield f"{content[:60]}: two fingerprints"
        if by_fingerprint.setdefault(shown, content) != content:
            yield f"{content[:60]}: the fingerprint of {by_fingerprint[shown][:60]}"
    for one, other in SAME:
        if _fingerprint(fingerprint, one) != _fingerprint(fingerprint, other):
            yield f"{one!r} and {other!r}: expected the same fingerprint"
    for value in (*NO_JSON, *CYCLES):
        if _fingerprint(fingerprint, value) != machine.content.NotJSONError.__name__:
            yield f"{value!r:.60}: expected a NotJSONError"


def _fingerprint(fingerprint: Any, value: object) -> object:
    try:
        return fingerprint(value)
    except Exception as error:  # noqa: BLE001 # which one is part of what is expected
        return type(error).__name__
