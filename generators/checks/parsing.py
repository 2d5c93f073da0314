"""JSON texts, good and nearly good, against the standard library's parser.

A few documents are changed at every place by every character that means something to JSON. What
is JSON and what it says is asked of `json.loads`, an independent mind; each text is tried as it
is, and again beside a value that the fast parser declines, so that both ways of reading are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.moves import repr_of

DOCUMENTS: Final = (
    '{"a":1,"b":[true,null]}',
    '[[],{},"x\\n",-0.5e+2]',
    '{"a":{"b":{"c":[false]}},"d":""}',
    ' [ 12 , 0 , "\\u00e9" ] ',
    '{"a":1,"a":2}',
    "-1.25E-3",
    "120",
    '"\\ud83d\\ude00"',
    "[\t1,\r\n2]",
    '{ "a" : 1 , "b" : 2 }',
)
CHARACTERS: Final = '{}[],:"\\ \t\n\r\x0b0-+.eE1tfnu/~\ufeff'

DECLINED: Final = (("[", ',"\\ud800"]'), ('{"a":"\\udfff","b":', "}"), ("[1e999,", "]"))
"""What to put around a text, so that the fast parser leaves it to the slow one."""

NOT_UTF8: Final = (
    b'"\xff"',
    b'"\xed\xa0\x80"',
    b"\xef\xbb\xbf1",
    b"\x00",
    b"",
    b"[1]\x00",
    b"\x80",
)


def texts() -> Iterator[str]:
    """The documents, and every change of one character."""
    for document in DOCUMENTS:
        yield document
        for place in range(len(document) + 1):
            yield document[:place] + document[place + 1 :]
            for character in CHARACTERS:
                yield document[:place] + character + document[place + (place % 2) :]
    for word, rest in product(("true", "false", "null", "NaN", "Infinity", "-Infinity"), ("", "x")):
        yield word + rest
        yield word[:-1] + rest
    yield from ("01", "-", "-01", "1.", ".5", "1e", "1e+", "+1", "1.0e5", "1E5", "0e0", "-0")
    for size in (1, 19, 20, 40, 599, 600, 601, 1201, 4300):
        yield "9" * size
        yield "-1" + "0" * (size - 1)
    yield "[" * 3_000


def what_it_says(text: str) -> str:
    """The value of a text by the standard library, as text; empty where it is no JSON."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return ""
    return repr_of(value)


@cache
def expected() -> tuple[tuple[bytes, str], ...]:
    """Each text as bytes, with what it says."""
    found: dict[bytes, str] = {}
    for number, text in enumerate(texts()):
        for before, after in (("", ""), DECLINED[number % len(DECLINED)]):
            whole = before + text + after
            found[whole.encode()] = what_it_says(whole)
    return tuple(found.items())


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """Texts that are read differently."""
    parse = machine.json_text.parse
    for line, says in expected():
        shown = _said(parse, line)
        if shown != says:
            yield f"{line[:80]!r}: expected {says[:80] or 'a refusal'}, read {shown[:80]}"
    for line in NOT_UTF8:
        if _said(parse, line):
            yield f"{line!r}: expected a refusal"
    yield from _unexpected_extremes(parse)


def _unexpected_extremes(parse: Any) -> Iterator[str]:
    too_large = 10**4300
    for digits, sign in product((4301, 4302, 10_000, 100_000), ("", "-")):
        value = _value(parse, f"{sign}1{'0' * (digits - 1)}".encode())
        if not isinstance(value, int) or abs(value) < too_large:
            yield f"an integer of {digits} digits is read as {type(value).__name__} of fewer"
    for opened, closed in (("[", "]"), ('{"a":', "}"), ('[{"a":', "}]"), ('[1,{"b":2,"a":', "}]")):
        value = _value(parse, (opened * 20_000 + "1" + closed * 20_000).encode())
        levels = 0
        while isinstance(value, (list, dict)) and len(value) in (1, 2):
            value = value[-1] if isinstance(value, list) else value["a"]
            levels += 1
        if value != 1 or levels != 20_000 * (opened.count("[") + opened.count("{")):
            yield f"{opened!r} 20,000 times is read as {levels} levels around {value!r:.20}"
        if _value(parse, (opened * 20_000).encode()) is not _REFUSED:
            yield f"{opened!r} 20,000 times without an end is accepted"
    for buffer in (bytearray, memoryview):
        if _said(parse, buffer(b'["\\ud800"]')) != _said(parse, b'["\\ud800"]'):
            yield f"{buffer.__name__} is read differently from bytes"
    for not_bytes in (None, 1, "1", [1], object()):
        if _value(parse, not_bytes) not in (_REFUSED, 1):
            yield f"{not_bytes!r:.20} is no bytes, and is read"


_REFUSED: Final = object()


def _value(parse: Any, line: object) -> Any:
    try:
        return parse(line)
    except Exception:  # noqa: BLE001 # the reducer takes any of them for a refusal
        return _REFUSED


def _said(parse: Any, line: object) -> str:
    value = _value(parse, line)
    return "" if value is _REFUSED else repr_of(value)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
