"""What a call costs, counted, not timed: the functions that it enters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from doneness.generators.checks.undisturbed import undisturbed


def calls_of(function: Callable[..., Any], *arguments: object) -> int:
    """How many Python functions are entered."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    before = sys.getprofile()
    with undisturbed():
        sys.setprofile(count)
        try:
            function(*arguments)
        finally:
            sys.setprofile(before)
    return counted
