"""The conversation with a reducer or a decoder in another process: JSON Lines, version 1.

`docs/protocol.md` is the page for those who write such a program, `protocol.schema.json` the same
as a schema. Here is our side of it: questions to bytes, answers from bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from doneness.generators.oracle import END_OF_TRANSPORT
from doneness.generators.subjects.program import CannotStartError, MisbehavedError, Verdict
from doneness.machine.json_text import parse

VERSION: Final = 1

TRACE: Final = "trace"
SNAPSHOT: Final = "snapshot"
TEXT: Final = "text"
FRAMING: Final = "framing"
CAPABILITIES: Final = (TRACE, SNAPSHOT, TEXT, FRAMING)
"""What a program may be able to do beside the minimum, as it says in its answer to `hello`."""

_OTHER_LINE_ENDS: Final = tuple(end.encode() for end in "\x85\u2028\u2029")

_encode: Final = msgspec.json.encode


def json_of(value: object) -> bytes:
    """A JSON value in ASCII or UTF-8, on one line; half a surrogate pair becomes an escape.

    So do the line ends that are none of JSON's (U+0085, U+2028, U+2029): there are readers of lines
    that end one there.

    Raises:
        ValueError: it has no JSON form.
    """
    try:
        encoded = _encode(value)
    except (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError):
        encoded = None
    if encoded is None or any(end in encoded for end in _OTHER_LINE_ENDS):
        try:
            return json.dumps(value, allow_nan=False).encode()
        except (TypeError, RecursionError) as error:
            raise ValueError(f"cannot be sent as JSON: {error}") from None
    return encoded


class Events:
    """Events as a program gets them: as JSON values, or as texts that hold the JSON.

    Traces share most of their events, so each object is encoded once.
    """

    def __init__(self, *, as_text: bool) -> None:
        self._as_text = as_text
        self._encoded: dict[int, tuple[object, bytes]] = {}

    def encoded(self, event: object) -> bytes:
        """The event as it stands in a question; `null` is the end of the connection."""
        if event is END_OF_TRANSPORT:
            return b"null"
        known = self._encoded.get(id(event))
        if known is None:
            text = event if isinstance(event, bytes) else json_of(event)
            # The object is kept with it: while it lives, its id belongs to nobody else.
            known = (event, json_of(text.decode()) if self._as_text else text)
            self._encoded[id(event)] = known
        return known[1]


def answer(line: bytes, number: int, *, numbered: bool) -> dict[str, Any]:
    """The answer to the question of that number, if the program says which it answers (`numbered`).

    Raises:
        MisbehavedError: the line is no JSON object, or answers another question.
    """
    try:
        value = parse(line)
    except ValueError:
        raise garbage("no JSON object", line) from None
    if not isinstance(value, dict):
        raise garbage("no JSON object", line)
    if numbered and value.get("n") != number:
        if isinstance(value.get("n"), int) and value["n"] < number:
            detail = f"once more to question {value['n']} when {number} was due"
            raise MisbehavedError(Verdict.TWICE, detail)
        raise garbage(f'no "n": {number}, which it was asked', line)
    return value


def garbage(problem: str, line: bytes) -> MisbehavedError:
    """What to raise where a line is not the answer that is due."""
    text = ascii(line[:200].decode("utf-8", "replace"))
    return MisbehavedError(Verdict.GARBAGE, f"{problem}: {text}")


def shown_in(value: object, line: bytes) -> dict[str, Any]:
    """The observables in an answer.

    Raises:
        MisbehavedError: it does not say at least a status.
    """
    if not isinstance(value, dict) or not isinstance(value.get("status"), str):
        raise garbage('no "status"', line)
    return {name: shown for name, shown in value.items() if name != "n"}


def hello_in(value: Mapping[str, Any]) -> tuple[frozenset[str], str | None]:
    """The capabilities and the name that a program states; none for one that states nothing.

    Raises:
        CannotStartError: it speaks another version, or states what no version has.
    """
    version = value.get("protocol", VERSION)
    if version != VERSION:
        raise CannotStartError(
            f"the program speaks version {version!r} of the protocol, this kit version {VERSION}"
        )
    stated = value.get("capabilities", [])
    if not isinstance(stated, list) or not all(one in CAPABILITIES for one in stated):
        raise CannotStartError(
            f"the program states the capabilities {stated!r}; "
            f"expected a list of some of {', '.join(CAPABILITIES)}"
        )
    name = value.get("name")
    return frozenset(stated), name if isinstance(name, str) else None
