"""Which events reach the lifecycle (contract §3, steps 1 to 5), and what the others leave behind.

The steps are asked in order. One that catches an event stops it, except a wrong seq: the event
behind a gap still applies, and the status is unknown anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

from doneness.spec.table import Declaration, Row, State
from doneness.spec.vocabulary import Issue, Status


@dataclass(frozen=True, slots=True)
class Step:
    """A step of admission.

    Attributes:
        catches: What is true of an event that this step catches.
        issue: The issue that it records.
        counts: The counter that it increases.
        stops: Whether the event ends here.
        remembers: Whether the id is on record once the step is passed or has caught.
    """

    number: int
    catches: str
    issue: Issue | None = None
    counts: str | None = None
    stops: bool = True
    remembers: bool = False


STEPS = (
    Step(1, "not_an_envelope", issue=Issue.BAD_ENVELOPE),
    Step(2, "another_run", counts="foreign"),
    Step(3, "not_strict_json", issue=Issue.NOT_JSON),
    Step(4, "same_id_same_content", counts="duplicates", remembers=True),
    Step(4, "same_id_other_content", issue=Issue.ID_CONFLICT, remembers=True),
    Step(5, "not_the_next_seq", issue=Issue.SEQUENCE_GAP_OR_REORDER, stops=False, remembers=True),
)

TRUSTED, CONTRADICTED = "trusted", "contradicted"

EVIDENCE = Declaration(
    name="evidence",
    title="The evidence of a run",
    states=(
        State(TRUSTED, "live", "nothing contradicts the facts; the lifecycle says what is shown"),
        State(
            CONTRADICTED, "unknown", "some issue is on record, for good", Status.UNKNOWN, final=True
        ),
    ),
    initial=TRUSTED,
    triggers=tuple(Issue),
    rows=(
        Row(tuple(Issue), (TRUSTED, CONTRADICTED), CONTRADICTED, why="§1: evidence is not erased"),
    ),
)
