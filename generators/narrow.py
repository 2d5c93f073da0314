"""A subject of which less is read: what grows with the run is not copied after each event.

A property needs an observable or two, and a long log has as many snapshots as events. With the
text so far in each of them, a hundred thousand would fill any memory.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from doneness.generators.oracle import OBSERVABLES
from doneness.generators.subject import Subject, wrapped_inside


class _Narrow:
    """Stands before a reducer; of what is shown there are some observables alone."""

    def __init__(self, reducer: Any, names: Collection[str]) -> None:
        self._reducer = reducer
        self._names = names

    def __getattr__(self, name: str) -> Any:
        if name in OBSERVABLES and name not in self._names:
            raise AttributeError(name)
        return getattr(self._reducer, name)


def narrowed(subject: Subject, names: Collection[str]) -> Subject:
    """The same subject, showing its status and these; a program answers with all that it has."""
    shown = {"status", *names}
    narrow = wrapped_inside(subject, lambda factory: lambda run: _Narrow(factory(run), shown))
    return narrow or subject
