"""What short streams are made of: a good event of each kind, and what must come before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from doneness.generators.checks.letters import Event, says
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME, FINAL_TEXT, Template, digest_of
from doneness.spec.vocabulary import Kind

Stream: TypeAlias = tuple[str, tuple[Template, ...]]

CALL: Final = "c1"
REQUESTED, STARTED, FINISHED, FAILED = (
    Kind.TOOL_REQUESTED,
    Kind.TOOL_STARTED,
    Kind.TOOL_FINISHED,
    Kind.TOOL_FAILED,
)

GOOD: Final[Mapping[str, Event]] = {
    Kind.TEXT_DELTA: {"text": "x"},
    Kind.MODEL_COMPLETED: {"response_id": "r"},
    Kind.MODEL_UNRESOLVED: {"response_id": "r", "reason": "cut"},
    **{kind: {"call_id": CALL} for kind in (REQUESTED, STARTED, FINISHED, FAILED)},
    Kind.APPROVAL_WAIT: {},
    Kind.CANCEL_REQUESTED: {},
    Kind.RUN_ENDED: {"outcome": "succeeded", "final_text": FINAL_TEXT},
    Kind.APP_CHECKED: {"digest": lambda oracle: digest_of(oracle.final_text), "ok": True},
}
"""A good payload of each kind."""

EOF: Final = BY_NAME["EOF"]
TEXT: Final = BY_NAME["text"]
SUCCEEDED: Final = BY_NAME["succeeded with text"]
CHECKED: Final = BY_NAME["check right ok"]
FAILED_RUN: Final = BY_NAME["failed with text"]

ALSO_GOOD: Final[Mapping[str, tuple[Event, ...]]] = {
    Kind.MODEL_UNRESOLVED: ({"response_id": None, "reason": ""},),
    Kind.RUN_ENDED: (
        {"outcome": "failed", "final_text": None},
        {"outcome": "paused", "final_text": None},
        {"outcome": "cancelled", "final_text": FINAL_TEXT},
    ),
    Kind.APP_CHECKED: ({"digest": lambda oracle: digest_of(oracle.final_text), "ok": False},),
}
"""Other good payloads, so that what is wrong with one is not refused for another reason."""


def legal(kind: str) -> tuple[Template, ...]:
    """What must come before an event of a kind, so that a good one is accepted."""
    if kind in (STARTED, FINISHED, FAILED):
        return (says(REQUESTED, {"call_id": CALL}),)
    return (SUCCEEDED,) if kind == Kind.APP_CHECKED else ()


def streams(*letters: Iterable[Template]) -> Iterator[Stream]:
    """Streams of the usual run."""
    for stream in letters:
        yield RUN, tuple(stream)
