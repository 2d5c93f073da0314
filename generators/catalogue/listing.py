"""The catalogue as a list, and the page that shows how each reducer is found."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Final

from doneness.generators.catalogue import activity, endings, evidence
from doneness.generators.catalogue.common import Wrong
from doneness.generators.divergence import Divergence, shrink
from doneness.generators.exploration import LAYERS, RUN, explore
from doneness.generators.subject import PythonSubject


def _reducers() -> Iterator[type[Wrong]]:
    for module in (endings, activity, evidence):
        for one in vars(module).values():
            if isinstance(one, type) and one.__module__ == module.__name__:
                yield one


CATALOGUE: Final = {one.__name__: one for one in _reducers()}
"""The wrong reducers by name."""


def found(name: str) -> tuple[str, Divergence] | None:
    """The layer of exploration that finds a wrong reducer, and the shrunk stream."""
    subject = PythonSubject(name, CATALOGUE[name], flat=True)
    for layer in LAYERS:
        for difference in explore(subject, layer).differences:
            divergence = shrink(subject, f"exploration/{layer.name}", RUN, difference.templates)
            if divergence is not None:
                return layer.name, divergence
    return None


def failure(name: str) -> tuple[str, str]:
    """What is wrong with a reducer, and where that was seen."""
    text = inspect.getdoc(CATALOGUE[name]) or ""
    wrong, _, seen = text.partition("\n\nSeen where: ")
    return " ".join(wrong.split()), " ".join(seen.split())


def page() -> Iterator[str]:
    """The page, line by line."""
    yield "# A catalogue of wrong reducers"
    yield ""
    yield "Each is right but for one thing, after a failure that really happened. They are in"
    yield "[`generators/catalogue`](../generators/catalogue); the kit finds each at its default"
    yield "settings. This page is written by `doneness catalogue`; a test compares."
    yield ""
    yield "| reducer | what is wrong with it | found by | shrunk stream | declared | shown |"
    yield "|---|---|---|---|---|---|"
    for name in CATALOGUE:
        wrong, seen = failure(name)
        result = found(name)
        if result is None:
            yield f"| `{name}` | {wrong} *{seen}* | **not found** | | | |"
            continue
        layer, divergence = result
        last = divergence.lines[-1]
        stream = ", ".join(line.move.name for line in divergence.lines)
        declared, shown = _difference(last.expected, last.shown)
        yield f"| `{name}` | {wrong} *{seen}* | {layer} | {stream} | {declared} | {shown} |"


def _difference(expected: dict[str, object], shown: object) -> tuple[str, str]:
    """The first observable that differs, the status before all others."""
    if not isinstance(shown, dict) or "failure" in shown:
        return str(expected["status"]), str(getattr(shown, "get", lambda _name: shown)("failure"))
    for name, value in expected.items():
        if shown.get(name) != value:
            return f"{name}: {_text(value)}", f"{name}: {_text(shown[name])}"
    return "", ""


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(one)}" for key, one in value.items()) or "none"
    return str(value) if value != "" else "empty"
