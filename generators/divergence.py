"""A divergence: found, shrunk, shown to a person, and written as a case that is ready to keep.

Shrinking works on what the events *are* (templates), not on their bytes: after each deletion the
events are made anew from the declaration's state, so numbers, ids and digests stay right and the
stream that remains is as legal as the one that was found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeAlias

from doneness.generators.exploration import Difference, agrees
from doneness.generators.moves import Template, play
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Snapshot, Subject

ALIKE_MAX: Final = 8
"""Rows of a table that may be alike one after the other; more are folded."""

_Row: TypeAlias = tuple[str, str, str, str, str]

NOT_READ: Final[Snapshot] = {}
"""Stands for what nobody looked at."""

_NOT_AGAIN: Final = (
    "   Fed once more by itself, this stream does not show it: what the subject shows depends on\n"
    "   more than the events of a stream, such as time, chance, or what it was fed before."
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: an event, what is expected after it, and what is shown."""

    move: Move
    expected: dict[str, object]
    shown: Snapshot

    @property
    def differs(self) -> bool:
        """Whether anything is shown that is not expected."""
        return not agrees(self.expected, self.shown)

    def explained(self) -> list[str]:
        """What exactly differs, a line each."""
        if "failure" in self.shown:
            return [f"   {self.shown['failure']}"]
        return [
            f"   {name}: declared {_short(value)}, shown {_short(self.shown[name])}"
            for name, value in self.expected.items()
            if name in self.shown and self.shown[name] != value
        ]


@dataclass(frozen=True, slots=True)
class Divergence:
    """A stream on which a subject leaves the contract, up to the first difference.

    Attributes:
        repeats: Whether it was seen again when the stream was fed once more.
    """

    subject: str
    check: str
    run: str
    lines: tuple[Line, ...]
    repeats: bool = True

    @property
    def name(self) -> str:
        """A name for the case: the check, and the event that showed the difference."""
        words = f"{self.check} {self.lines[-1].move.name}" if self.lines else self.check
        return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:80]

    def table(self) -> str:
        """The stream as a numbered table; the first difference is marked."""
        rows = [("", "#", "event", "declared", "shown")]
        for number, line in enumerate(self.lines, 1):
            mark = ">" if line.differs else ""
            shown = "(not read)" if line.shown is NOT_READ else str(line.shown.get("status", "?"))
            rows.append((mark, str(number), line.move.name, str(line.expected["status"]), shown))
        rows = _folded(rows)
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        lines += self.lines[-1].explained() if self.lines else []
        lines += [] if self.repeats else [_NOT_AGAIN]
        return "\n".join(lines)

    def case(self) -> dict[str, Any]:
        """The stream as a case, with the statuses that the declaration expects."""
        return {
            "name": self.name,
            "run": self.run,
            "events": [line.move.event for line in self.lines],
            "expected_steps": [str(line.expected["status"]) for line in self.lines],
            "shown_steps": [_status_in(line.shown) for line in self.lines],
            "found_by": self.check,
            "subject": self.subject,
        }

    def write(self, folder: Path) -> Path | None:
        """Write the case below `folder`; None where an event has no JSON form."""
        try:
            text = json.dumps(self.case(), ensure_ascii=True, indent=1, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return None
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(text + "\n", "utf-8")
        return path


class DivergenceError(AssertionError):
    """A subject left the contract."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(
            f"{divergence.subject} leaves the contract ({divergence.check})\n{divergence.table()}"
        )
        self.divergence = divergence


def compare(
    subject: Subject, check: str, run: str, moves: Sequence[Move], *, oracle: Oracle | None = None
) -> Divergence | None:
    """Run moves through declaration and subject; the divergence, if there is one."""
    [shown] = subject.every(run, [[move.event for move in moves]])
    return first_in(subject.name, check, run, moves, shown, oracle=oracle)


def first_in(
    subject: str,
    check: str,
    run: str,
    moves: Sequence[Move],
    shown: Sequence[Snapshot],
    *,
    oracle: Oracle | None = None,
) -> Divergence | None:
    """The divergence in what a subject has shown after each of some moves, if there is one."""
    oracle = oracle or Oracle(run)
    lines = []
    for move, snapshot in zip(moves, shown, strict=True):
        oracle.take(move)
        lines.append(Line(move, oracle.observables(), snapshot))
        if not agrees(lines[-1].expected, snapshot):
            return Divergence(subject, check, run, tuple(lines))
    return None


def compare_at_end(
    subject: Subject, check: str, run: str, moves: Sequence[Move]
) -> Divergence | None:
    """The same, with nothing read before the end: a subject that is read may go another way."""
    if not moves:
        return None
    [shown] = subject.last(run, [[move.event for move in moves]])
    before = [NOT_READ] * (len(moves) - 1)
    return first_in(subject.name, check, run, moves, [*before, shown])


def seen_once(found: Divergence) -> Divergence:
    """The same divergence, said to be one that was not seen again."""
    return replace(found, repeats=False)


def shrink(
    subject: Subject, check: str, run: str, templates: Iterable[Template]
) -> Divergence | None:
    """A stream that still diverges, from which nothing can be left out.

    None if the templates do not make the subject diverge at all, whether it is read after each
    event or at the end alone.
    """
    given = list(templates)
    return _shrunk(compare, subject, check, run, given) or _shrunk(
        compare_at_end, subject, check, run, given
    )


def shortest_of(subject: Subject, check: str, run: str, difference: Difference) -> Divergence:
    """What exploration found, in as few events as it takes."""
    found = shrink(subject, check, run, difference.templates)
    if found is not None:
        return found
    moves = difference.moves
    shown = [*[NOT_READ] * (len(moves) - 1), difference.shown]
    once = first_in(subject.name, check, run, moves, shown)
    assert once is not None  # it is a difference
    return seen_once(once)


_Comparing: TypeAlias = Callable[[Subject, str, str, Sequence[Move]], Divergence | None]


def _shrunk(
    comparing: _Comparing, subject: Subject, check: str, run: str, given: list[Template]
) -> Divergence | None:
    def diverges(templates: list[Template]) -> Divergence | None:
        return comparing(subject, check, run, play(Oracle(run), templates, subject.takes))

    kept = given
    best = diverges(kept)
    if best is None:
        return None
    width = max(1, len(kept) // 2)
    while width:
        start = 0
        while start < len(kept):
            shorter = kept[:start] + kept[start + width :]
            found = diverges(shorter)
            if found is None or was_not_run(found.lines[-1].shown.get("failure")):
                start += width
            else:
                kept, best = shorter, found
        width //= 2
    return best


def was_not_run(failure: object) -> bool:
    """Whether a subject was not even asked, so that its failure says nothing of the stream."""
    return isinstance(failure, str) and failure.startswith("not run")


def _folded(rows: list[_Row]) -> list[_Row]:
    """The same rows, but of many that are alike only the first and the last."""
    folded: list[_Row] = []
    for _, some in groupby(rows, key=lambda row: row[2:]):
        alike = list(some)
        if len(alike) > ALIKE_MAX:
            alike[1:-1] = [("", "…", f"({len(alike) - 2:,} more like these)", "", "")]
        folded += alike
    return folded


def _status_in(shown: Snapshot) -> str:
    return "not read" if shown is NOT_READ else str(shown.get("status"))


def _short(value: object, width_max: int = 70) -> str:
    text = repr(value) if not isinstance(value, str) else ascii(str(value))
    text = re.sub(r"<\w+\.\w+: ('\w+')>", r"\1", text)
    return text if len(text) <= width_max else f"{text[: width_max - 1]}…"
