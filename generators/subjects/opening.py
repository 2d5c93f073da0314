"""From what a person writes to a subject: `package.module:factory`, or `exec:COMMAND …`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

from doneness.generators.subjects.adapted import Adapted, Opened, kinds_of
from doneness.generators.subjects.framing import (
    FramingProgram,
    FramingSubject,
    PythonDecoder,
)
from doneness.generators.subjects.program import CannotStartError, Limits
from doneness.generators.subjects.python_object import PythonObject, UnfitObjectError
from doneness.generators.subjects.reducer_program import ReducerProgram

PROGRAM: Final = "exec:"


class SubjectError(ValueError):
    """No subject can be made of what was written."""


def open_subject(
    spec: str,
    *,
    statuses: Mapping[str, str] | None = None,
    kinds: frozenset[str] | None = None,
    answer_seconds: float = 4.0,
) -> Adapted:
    """The reducer that a person named.

    Args:
        spec: `package.module:factory`, imported also from the current folder, or
            `exec:COMMAND …`, split as a shell would, but run without one.
        statuses: Its own names for statuses, to ours.
        kinds: The kinds that it knows; by default it is asked about the extensions.
        answer_seconds: How long one answer may take.

    Raises:
        SubjectError: it cannot be imported or run, or is no reducer.
    """
    inner: Opened
    try:
        if spec.startswith(PROGRAM):
            inner = ReducerProgram(_command(spec), Limits(answer_seconds=answer_seconds))
        else:
            inner = PythonObject(spec, _imported(spec), answer_seconds=answer_seconds)
    except (CannotStartError, UnfitObjectError) as error:
        raise SubjectError(str(error)) from None
    return Adapted(inner, statuses or {}, kinds if kinds is not None else kinds_of(inner))


def open_framing(spec: str, *, answer_seconds: float = 4.0) -> FramingSubject:
    """The decoder that a person named, in the same way.

    Raises:
        SubjectError: it cannot be imported or run, or is no decoder.
    """
    try:
        if spec.startswith(PROGRAM):
            return FramingProgram(_command(spec), Limits(answer_seconds=answer_seconds))
        return PythonDecoder(spec, _imported(spec), answer_seconds=answer_seconds)
    except (CannotStartError, UnfitObjectError) as error:
        raise SubjectError(str(error)) from None


def _command(spec: str) -> list[str]:
    try:
        command = shlex.split(spec.removeprefix(PROGRAM))
    except ValueError as error:
        raise SubjectError(f"{spec!r}: {error}") from None
    if not command:
        raise SubjectError(f"{spec!r}: expected {PROGRAM}COMMAND …, got no command")
    return command


def _imported(spec: str) -> Callable[..., Any]:
    module_name, colon, path = spec.partition(":")
    if not (colon and module_name and path):
        raise SubjectError(
            f"{spec!r}: expected package.module:factory or {PROGRAM}COMMAND …, got neither"
        )
    here = os.getcwd()  # noqa: PTH109 # as sys.path has it
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    try:
        value: Any = import_module(module_name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 # a module may raise anything
        raise SubjectError(
            f"{spec!r}: cannot import {module_name}: {type(error).__name__}: {error}"
        ) from None
    for name in path.split("."):
        if not hasattr(value, name):
            close = get_close_matches(name, dir(value), 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise SubjectError(f"{spec!r}: {module_name} has no {path}{hint}")
        value = getattr(value, name)
    if not callable(value):
        raise SubjectError(f"{spec!r}: expected a callable, got {type(value).__name__}")
    factory: Callable[..., Any] = value
    return factory
