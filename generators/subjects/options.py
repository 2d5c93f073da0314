"""What a person says about a subject: other names for statuses, what it lacks, what is known wrong.

Nothing that is left out here is silently passed: it is counted by its reason, and the reasons are
shown with the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any, Final

from doneness.fixtures.json_places import PlaceError, decoded, parsed
from doneness.spec.vocabulary import Kind, Status

GROUP: Final = ("doneness", "doneness: a reducer against the contract (-m model)")
"""The heading in `pytest --help`."""

_OPTIONS: Final = (
    "--subject",
    "--framing-subject",
    "--status-map",
    "--supports",
    "--expect-failures",
)


class OptionError(ValueError):
    """A file or a list that was given is not what it should be."""


EXTENSION: Final = frozenset({str(Kind.MODEL_UNRESOLVED)})
"""Kinds beyond the ten of the contract's table; a reducer may do without them."""


def as_typed(value_of: Callable[[str], Any]) -> list[str]:
    """The options that say what a subject is, as somebody typed them in a shell."""
    given = []
    for option in _OPTIONS:
        values = value_of(option) or []
        for value in values if isinstance(values, list) else [values]:
            given.append(f"{option}={quote(value)}")  # noqa: PERF401 # two loops read better so
    return given


def read_statuses(path: Path) -> Mapping[str, str]:
    """A file of a subject's own names for its statuses: a JSON object, its name to ours.

    Several of its names may be the same status of ours; a name of ours need not be listed.

    Raises:
        OptionError: it cannot be read, or names a status that there is not.
    """
    content = _object_in(path, "status map")
    for theirs, ours in content.items():
        if ours not in set(Status):
            raise OptionError(
                f"{path}: {theirs!r}: expected one of {', '.join(Status)}, got {ours!r}"
            )
    return MappingProxyType(content)


def read_expected_failures(path: Path) -> Mapping[str, str]:
    """A file of checks that are known to fail: a JSON object, the check to the reason.

    Raises:
        OptionError: it cannot be read, or a reason is missing.
    """
    content = _object_in(path, "list of expected failures")
    for check, reason in content.items():
        if not isinstance(reason, str) or not reason.strip():
            raise OptionError(f"{path}: {check!r}: expected the reason as text, got {reason!r}")
    return MappingProxyType(content)


def supported_kinds(text: str) -> frozenset[str]:
    """The kinds that a subject knows, from a list such as `text.delta,run.ended`.

    `-KIND` leaves one out of all there are; `all` is all there are.

    Raises:
        OptionError: there is no such kind, or both ways are mixed.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    without = {name[1:].strip() for name in names if name.startswith("-")}
    with_ = {name for name in names if not name.startswith("-")} - {"all"}
    for name in sorted(without | with_):
        if name not in set(Kind):
            close = get_close_matches(name, list(Kind), 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise OptionError(f"no kind {name!r}: expected some of {', '.join(Kind)}{hint}")
    if with_ and (without or "all" in names):
        raise OptionError(f"{text!r}: expected either the kinds that it knows, or -KIND for others")
    if not names:
        raise OptionError("expected at least one kind")
    return frozenset(with_ or {str(kind) for kind in Kind} - without)


@dataclass(frozen=True)
class ExpectedFailures:
    """Checks that are known to fail; one that does not fail is stale, which is a failure.

    Attributes:
        reasons: For each check why it is known to fail.
    """

    reasons: Mapping[str, str]

    def reason(self, names: Iterable[str]) -> str | None:
        """Why a check is known to fail, under any of its names; None where it is not."""
        return next((self.reasons[name] for name in names if name in self.reasons), None)


def _object_in(path: Path, what: str) -> dict[str, Any]:
    try:
        content = parsed(decoded(path.read_bytes()))
    except OSError as error:
        raise OptionError(f"{path}: {error.strerror or error}") from None
    except PlaceError as error:
        raise OptionError(f"{path}, {error}; expected a {what}: a JSON object of texts") from None
    if not isinstance(content, dict):
        raise OptionError(f"{path}: expected a {what}: a JSON object of texts")
    return content
