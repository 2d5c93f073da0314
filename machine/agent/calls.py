"""A tool call on its way from the model to a tool: its name, its arguments, what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import msgspec

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What the published chat-completions API accepts as the name of a function."""

NESTING_MAX: Final = 100
"""Bound on the nesting of arguments, so that every consumer can write them as JSON again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one call: text for the model, and whether the call failed."""

    output: str
    is_error: bool


def parsed_arguments(arguments: str) -> object:
    """The JSON value of `arguments`, or the text itself where it is not strict JSON.

    NaN, infinities (also `1e999`), lone surrogates, integers of more than 4,300 digits and
    nesting beyond `NESTING_MAX` are not.
    """
    try:
        parsed = msgspec.json.decode(arguments)
    except (ValueError, RecursionError):
        return arguments
    return parsed if _nests_at_most(NESTING_MAX, parsed) else arguments


def _nests_at_most(levels_max: int, value: object) -> bool:
    level = [value]
    for _ in range(levels_max):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return not any(isinstance(value, list | dict) for value in level)
