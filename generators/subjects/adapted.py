"""A subject as the checks see it: our names for its statuses, and only what it can be asked.

What cannot be put to it is left out and counted by the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from doneness.generators.oracle import OBSERVABLES, Move
from doneness.generators.subject import Snapshot, Subject, Trace
from doneness.generators.subjects.options import EXTENSION
from doneness.spec.vocabulary import Issue, Kind, Status

_SAFE_INTEGER_MAX: Final = 2**53 - 1
_ALL: Final = frozenset(str(kind) for kind in Kind)


class Opened(Protocol):
    """A subject that can say whether it sees how a number was written."""

    name: str
    json_only: bool
    exact_numbers: bool

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """As of a subject."""

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """As of a subject."""

    def close(self) -> None:
        """Let go of what it holds."""


@dataclass
class Adapted:
    """A subject behind a person's options.

    Attributes:
        inner: The subject itself.
        statuses: Its own names for statuses, to ours.
        kinds: The kinds that it knows.
        left_out: How many moves could not be put to it, by reason.
    """

    inner: Opened
    statuses: Mapping[str, str] = field(default_factory=dict)
    kinds: frozenset[str] = _ALL
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.inner.name

    @property
    def json_only(self) -> bool:
        """Whether events reach it as JSON."""
        return self.inner.json_only

    def takes(self, move: Move) -> bool:
        """Whether a move can be put to it."""
        reason = self._why_not(move)
        if reason is not None:
            self.left_out[reason] += 1
        return reason is None

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""
        return list(map(self._in_our_words, self.inner.last(run, traces)))

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""
        told = self.inner.every(run, traces)
        return [list(map(self._in_our_words, shown)) for shown in told]

    def close(self) -> None:
        """End a program; nothing otherwise."""
        self.inner.close()

    def missing(self) -> list[str]:
        """The observables that it does not show, so that they are not compared."""
        [shown] = self.last("a run", [[]]) if not self.json_only else self.last("a run", [[None]])
        return [] if "failure" in shown else [name for name in OBSERVABLES if name not in shown]

    def _why_not(self, move: Move) -> str | None:
        if self.inner.json_only and not move.json:
            return "what JSON cannot say: events reach it as JSON"
        event = move.event
        if isinstance(event, dict):
            kind = event.get("kind")
            if isinstance(kind, str) and kind in _ALL and kind not in self.kinds:
                return f"{kind}: it does not know this kind"
        if not self.inner.exact_numbers and _is_delicate(event):
            return "how a number is written, 1 or 1.0: it gets events parsed, not as text"
        return None

    def _in_our_words(self, shown: Snapshot) -> Snapshot:
        status = shown.get("status")
        is_ours = isinstance(status, str) and status in _STATUSES
        if "failure" in shown or (not self.statuses and is_ours):
            return shown
        ours = self.statuses.get(str(status), str(status))
        if ours not in _STATUSES:
            failure = (
                f"shows the status {status!r}, which the contract does not have; "
                "say with --status-map what it means"
            )
            return {**shown, "failure": failure}
        return {**shown, "status": ours}


_STATUSES: Final = frozenset(str(status) for status in Status)


def kinds_of(subject: Subject | Opened) -> frozenset[str]:
    """The kinds that a subject knows, found out by asking: the extensions may be missing.

    Only what it answers exactly as to a kind that it never heard of counts as missing; anything
    else is for the checks to judge.
    """
    run = "a run"

    def opening(kind: str, data: dict[str, Any]) -> dict[str, Any]:
        return {"run": run, "id": f"{run}:1", "seq": 1, "kind": kind, "data": data}

    unresolved = opening(Kind.MODEL_UNRESOLVED, {"response_id": None, "reason": "asked"})
    strange = opening("a.kind.of.nobody", {})
    ended = opening(Kind.RUN_ENDED, {"outcome": "failed", "final_text": None})
    ended = {**ended, "id": f"{run}:2", "seq": 2}
    known, unknown = subject.last(run, [[unresolved, ended], [strange, ended]])
    drop = [
        {name: shown[name] for name in OBSERVABLES if name in shown} for shown in (known, unknown)
    ]
    says_unknown = Issue.UNKNOWN_EVENT in known.get("issues", [Issue.UNKNOWN_EVENT])  # type: ignore[operator] # a list in any snapshot
    if "failure" not in known and drop[0] == drop[1] and says_unknown:
        return _ALL - EXTENSION
    return _ALL


def _is_delicate(event: object) -> bool:
    """Whether a number in it means another thing once a parser has only one type for numbers."""
    todo = [event]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, (list, tuple)):
            todo += value
        elif isinstance(value, float):
            if value.is_integer():
                return True
        elif isinstance(value, int) and abs(value) > _SAFE_INTEGER_MAX:
            return True
    return False
