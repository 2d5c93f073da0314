"""A finding: one divergence or breach, reduced to what a report says of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from doneness.generators.divergence import Divergence, Line
from doneness.spec.vocabulary import Issue, Status

PROPERTIES: Final = {
    "P1": "done only with an uncontradicted success and an ok check bound to it",
    "P2": "an issue is for good",
    "P3": "inserting duplicates changes the duplicate count alone",
    "P4": "inserting foreign events changes the foreign count alone",
    "P5": "the end of the connection never makes a success",
    "P6": "a terminal is never replaced",
    "P7": "no success with an open call",
    "P8": "nothing raises",
    "P9": "the status is a function of the facts",
    "P10": "the partition of bytes into chunks is invisible",
}

RULES: Final = {
    **PROPERTIES,
    **{str(issue): f"the issue {issue} is recorded exactly when it should be" for issue in Issue},
    "status": "the status is the one that the declaration gives",
    "observables": "all that is shown is what the declaration gives",
}
"""The rules that a finding can break: the properties, the issue codes, and the rest."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        rule: A key of `RULES`.
        message: The finding in one line.
        details: The numbered table, or the story.
        case: The case, where there is one; its events may be cut off if they have no JSON form.
        file: Where the case was written, relative to the project.
    """

    rule: str
    check: str
    subject: str
    message: str
    details: str
    case: dict[str, Any] | None = None
    file: str | None = None

    def plain(self) -> dict[str, Any]:
        """The finding as JSON data."""
        return asdict(self)


def rule_of(divergence: Divergence) -> str:
    """The most telling rule that a divergence breaks."""
    last = divergence.lines[-1]
    if "failure" in last.shown:
        return "P8"
    shown, expected = last.shown.get("status"), last.expected["status"]
    if shown == Status.DONE and expected != Status.DONE:
        return "P1"
    wrong_issues = _issues(last.expected) ^ _issues(last.shown) if "issues" in last.shown else set()
    if wrong_issues:
        return min(wrong_issues)
    if shown != expected:
        return "status"
    return "observables"


def _issues(snapshot: Any) -> set[str]:
    return {str(issue) for issue in snapshot["issues"]}


def finding_of(divergence: Divergence, file: str | None) -> Finding:
    """What a report says of a divergence."""
    last: Line = divergence.lines[-1]
    return Finding(
        rule=rule_of(divergence),
        check=divergence.check,
        subject=divergence.subject,
        message=(
            f"after {last.move.name}: declared {last.expected['status']}, "
            f"shown {last.shown.get('status', last.shown.get('failure'))}"
        ),
        details=divergence.table(),
        case=divergence.case() if file else None,
        file=file,
    )
