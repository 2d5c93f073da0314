"""The checks of the machine's parts, each on modules that are handed in.

Exploration knows a reducer by what it shows; these know our own modules. Each is given a machine
(`content`, `json_text`, `reducer`, `acceptance`, `producer`) and yields what it does wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Final

from doneness.generators.checks import (
    costs,
    fingerprints,
    hostile,
    interrupts,
    parsing,
    producing,
    telling,
)
from doneness.generators.subject import PythonSubject

MODULES: Final = (
    "acceptance",
    "content",
    "json_text",
    "memory",
    "payloads",
    "producer",
    "reducer",
)


def _hostile(machine: SimpleNamespace) -> Iterator[str]:
    yield from hostile.unexpected(PythonSubject("", machine.reducer.Progress), deep=False)


PARTS: Final[Mapping[str, Callable[[SimpleNamespace], Iterator[str]]]] = {
    "telling": telling.unexpected,
    "hostile objects": _hostile,
    "interrupts": interrupts.unexpected,
    "fingerprints": fingerprints.unexpected,
    "parsing": parsing.unexpected,
    "producing": producing.unexpected,
    "costs": costs.unexpected,
}


def own_machine() -> SimpleNamespace:
    """The machine as it is installed."""
    return SimpleNamespace(**{name: import_module(f"doneness.machine.{name}") for name in MODULES})
