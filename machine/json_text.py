"""One JSON value from bytes, with the values that a fast parser declines.

msgspec reads nearly everything. What it declines although RFC 8259 allows it is read here, by a
small iterative parser: lone surrogates written as escapes, integers of thousands of digits,
floats beyond the range, nesting without bound. The reducer then judges these like any other
value, so that bytes and objects with the same content get the same answer.
"""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined] # the standard library's own
from typing import Final

import msgspec

from doneness.machine.content import DIGITS_MAX

_DECODER: Final = msgspec.json.Decoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: Final = (("true", True), ("false", False), ("null", None))
_ANY_TOO_LARGE: Final = 10**DIGITS_MAX


def parse(line: bytes) -> object:
    """The one JSON value that `line` (UTF-8) holds.

    An integer of more than `DIGITS_MAX` digits comes back as some integer of as many or more, of
    the same sign.

    Raises:
        ValueError: not exactly one JSON value, or not UTF-8.
    """
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _parse_slowly(bytes(line).decode())


def _parse_slowly(text: str) -> object:
    root: list[object] = []
    open_containers: list[list[object] | dict[str, object]] = [root]
    names: list[str] = []  # of the members whose values are being read, outermost first
    place = _skip(text, 0)
    while True:
        # A value starts here.
        head = text[place : place + 1]
        value: object
        if head in ("{", "["):
            container: list[object] | dict[str, object] = {} if head == "{" else []
            _add(open_containers[-1], names, container)
            open_containers.append(container)
            place = _skip(text, place + 1)
            if text[place : place + 1] != ("}" if head == "{" else "]"):
                if head == "{":
                    place = _name(text, place, names)
                continue
        else:
            value, place = _scalar(text, place, head)
            _add(open_containers[-1], names, value)
            place = _skip(text, place)
        # A value ended here: close what closes, or step to the next one.
        while len(open_containers) > 1:
            inside = open_containers[-1]
            head = text[place : place + 1]
            if head == ",":
                place = _skip(text, place + 1)
                if isinstance(inside, dict):
                    place = _name(text, place, names)
                break
            if head != ("}" if isinstance(inside, dict) else "]"):
                raise ValueError(f"expected a comma or a closing bracket at character {place}")
            open_containers.pop()
            place = _skip(text, place + 1)
        else:
            if place != len(text):
                raise ValueError(f"more than one JSON value at character {place}")
            return root[0]


def _skip(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _name(text: str, place: int, names: list[str]) -> int:
    if text[place : place + 1] != '"':
        raise ValueError(f"expected the name of a member at character {place}")
    name, place = scanstring(text, place + 1, True)
    names.append(name)
    place = _skip(text, place)
    if text[place : place + 1] != ":":
        raise ValueError(f"expected a colon at character {place}")
    return _skip(text, place + 1)


def _add(inside: list[object] | dict[str, object], names: list[str], value: object) -> None:
    if isinstance(inside, dict):
        inside[names.pop()] = value
    else:
        inside.append(value)


def _scalar(text: str, place: int, head: str) -> tuple[object, int]:
    if head == '"':
        string: tuple[object, int] = scanstring(text, place + 1, True)
        return string
    for word, value in _WORDS:
        if text.startswith(word, place):
            return value, place + len(word)
    number = _NUMBER.match(text, place)
    if not number:
        raise ValueError(f"expected a JSON value at character {place}")
    integer, fraction, exponent = number.groups()
    if fraction or exponent:
        return float(number.group()), number.end()
    if len(integer) > DIGITS_MAX + 1:
        return -_ANY_TOO_LARGE if head == "-" else _ANY_TOO_LARGE, number.end()
    return _integer(integer), number.end()


def _integer(digits: str) -> int:
    # In pieces: the interpreter's own limit on digits can be set as low as 640.
    negative, digits = digits.startswith("-"), digits.removeprefix("-")
    value = 0
    for start in range(0, len(digits), 600):
        part = digits[start : start + 600]
        value = value * 10 ** len(part) + int(part)
    return -value if negative else value
