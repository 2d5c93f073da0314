"""Nothing that a stranger wrote can act on the terminal."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from doneness.machine.visible import brief, padded, visible, width


def test_every_character_without_a_shape_is_escaped() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    shown = set(visible(everything))
    assert {unicodedata.category(character)[0] for character in shown} == set("LMNPSZ")
    assert not {"\u2028", "\u2029"} & shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\x00\x07\x7f\x9b", "a\\x00\\x07\\x7f\\x9b"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\\x1b", "\\\\x1b"),
        ("合成 é 😀", "合成 é 😀"),
    ],
)
def test_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_two_texts_never_look_the_same() -> None:
    texts = ["\x1b", "\\x1b", "\\\\x1b", "\\", "\n", "\\n"]
    assert len({visible(text) for text in texts}) == len(texts)


def test_long_text_says_what_is_left_out() -> None:
    assert visible("x" * 1010, 10) == "xxxxxxxxxx… (1,000 more)"


def test_any_value_is_brief_on_one_line() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, {"a": deep}, 10**5000, {"\n": "\x1b"}, ["x" * 1000] * 1000, 1.5, True):
        shown = brief(value)
        assert len(shown) < 800
        assert shown.isprintable()


def test_wide_characters_take_two_columns() -> None:
    assert width("合a") == 3
    assert padded("合a", 5) == "合a  "
    assert width("e\u0301") == 1
