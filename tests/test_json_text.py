"""The slow parser reads what the fast one declines, and nothing more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doneness.machine.content import NotJSONError, fingerprint
from doneness.machine.json_text import _parse_slowly, parse

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.sampled_from([None, 1]))
def test_it_reads_what_the_standard_library_writes(value: object, indent: int | None) -> None:
    """Round trip, compact and spread out."""
    assert repr(_parse_slowly(json.dumps(value, indent=indent))) == repr(value)


@given(st.text('[]{},:"0123456789.eE+-\\ \ntrufalsn', max_size=12))
def test_it_accepts_what_the_standard_library_accepts(text: str) -> None:
    """Anything but NaN and the infinities, which are not JSON."""

    def refuse(_name: str) -> Any:
        raise ValueError

    try:
        expected = repr(json.loads(text, parse_constant=refuse))
    except ValueError:
        expected = "refused"
    try:
        found = repr(_parse_slowly(text))
    except ValueError:
        found = "refused"
    assert found == expected


@given(json_values, json_values)
def test_fingerprints_are_equal_exactly_when_the_content_is(one: object, other: object) -> None:
    """As the standard library writes it with sorted keys."""
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (fingerprint(one) == fingerprint(other)) == same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["ab"], ["a", "b"]),
        ([[], []], [[[]]]),
        ({"a": "b"}, ["a", "b"]),
        ("1", 1),
        ("", None),
        ([], {}),
    ],
)
def test_fingerprints_keep_the_structure(one: object, other: object) -> None:
    """No two structures run together."""
    assert fingerprint(one) != fingerprint(other)


def test_depth_and_sharing_cost_nothing_extra() -> None:
    """100,000 levels, and 2 to the 80 leaves, are read."""
    deep = parse(b"[" * 100_000 + b"]" * 100_000)
    assert len(fingerprint(deep)) == 21
    shared: object = "x"
    for _ in range(80):
        shared = [shared, shared]
    assert len(fingerprint(shared)) == 21
    cyclic: list[object] = []
    cyclic.append([cyclic])
    with pytest.raises(NotJSONError, match="cycle"):
        fingerprint(cyclic)
