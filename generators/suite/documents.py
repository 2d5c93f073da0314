"""The suite as data: everything a program in any language needs to run it.

The tests are a product (cover · words · identifiers), and it is written down as that product: the
whole suite for two calls and one extra state has some hundred thousand tests and fits in a file of
a few dozen kilobytes. `docs/complete-suite.md` says how to unfold it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from doneness.generators.moves import CALLS, FINAL_TEXT, TEXT, digest_of
from doneness.generators.suite.abstraction import RUN, abstraction, letters
from doneness.generators.suite.machines import (
    Moore,
    Word,
    harmonised_identifiers,
    minimal,
    state_cover,
)
from doneness.spec.vocabulary import Kind, Outcome

FORMAT: Final = 1
OBSERVATIONS: Final = ("snapshot", "status")

NEXT: Final = "$next"
GAP: Final = "$gap"
ID: Final = "$id"

_BAD_TEXT: Final = {"text": TEXT, "more": 1}

# Each letter: what is done, and with what. `numbered` events take the next number and are what a
# later `repeat` repeats; the reducer never sees the difference, only whoever makes the events does.

_PAYLOADS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "text": (Kind.TEXT_DELTA, {"text": TEXT}),
    "response completed": (Kind.MODEL_COMPLETED, {"response_id": "r"}),
    "response unresolved": (Kind.MODEL_UNRESOLVED, {"response_id": "r", "reason": "cut"}),
    "approval wait": (Kind.APPROVAL_WAIT, {}),
    "cancel requested": (Kind.CANCEL_REQUESTED, {}),
    "succeeded with text": (
        Kind.RUN_ENDED,
        {"outcome": str(Outcome.SUCCEEDED), "final_text": FINAL_TEXT},
    ),
    **{
        f"{outcome} without text": (
            Kind.RUN_ENDED,
            {"outcome": str(outcome), "final_text": None},
        )
        for outcome in Outcome
    },
    **{
        f"check right {verdict}": (
            Kind.APP_CHECKED,
            {"digest": digest_of(FINAL_TEXT), "ok": verdict == "ok"},
        )
        for verdict in ("ok", "not ok")
    },
    "check of another text ok": (
        Kind.APP_CHECKED,
        {"digest": digest_of(f"{FINAL_TEXT} "), "ok": True},
    ),
    "text.delta with a key too many": (Kind.TEXT_DELTA, _BAD_TEXT),
    "kind 'future.completed'": ("future.completed", {}),
    **{
        f"{kind.removeprefix('tool.')} {call}": (kind, {"call_id": call})
        for call in CALLS
        for kind in (
            Kind.TOOL_REQUESTED,
            Kind.TOOL_STARTED,
            Kind.TOOL_FINISHED,
            Kind.TOOL_FAILED,
        )
    },
}

_EVENT: Final = {"run": RUN, "id": ID, "seq": NEXT}
_TEXT: Final = {**_EVENT, "kind": str(Kind.TEXT_DELTA), "data": {"text": TEXT}}

_OTHERS: Final[Mapping[str, dict[str, Any]]] = {
    "not an envelope: no kind": {
        "do": "feed",
        "event": {key: value for key, value in _TEXT.items() if key != "kind"},
    },
    "not JSON: half a surrogate pair": {
        "do": "feed",
        "event": {**_TEXT, "data": {"text": "\ud800"}},
    },
    "the last again": {"do": "repeat"},
    "the last id, other data": {"do": "repeat", "data": {"text": "y"}},
    "a gap by one": {"do": "feed", "numbered": True, "event": {**_TEXT, "seq": GAP}},
    "another run": {"do": "feed", "event": {**_TEXT, "run": f"{RUN}-other"}},
    "EOF": {"do": "close"},
}


def letter(name: str) -> dict[str, Any]:
    """A letter as data."""
    if name in _OTHERS:
        return {"name": name, **_OTHERS[name]}
    kind, data = _PAYLOADS[name]
    event = {**_EVENT, "kind": str(kind), "data": data}
    return {"name": name, "do": "feed", "numbered": True, "event": event}


def document(calls: int, observed: str) -> dict[str, Any]:
    """The suite for one call or two, by snapshot or by status alone."""
    found = abstraction(calls)
    whole = found.machine if observed == "snapshot" else found.by_status()
    machine, becomes = minimal(whole)
    snapshots: list[Any] = [None] * len(machine.steps)
    for state, snapshot in enumerate(found.snapshots):
        shown = snapshot if observed == "snapshot" else {"status": snapshot["status"]}
        snapshots[becomes[state]] = shown
    cover = state_cover(machine)
    return {
        "format": FORMAT,
        "calls": calls,
        "observed": observed,
        "run": RUN,
        "alphabet": [letter(name) for name in letters(calls)],
        "states": snapshots,
        "next": [list(row) for row in machine.steps],
        "cover": [list(word) for word in cover],
        "identifiers": [
            [list(word) for word in words] for words in harmonised_identifiers(machine)
        ],
        "transition_cover": [
            [*cover[state], one]
            for state in range(len(machine.steps))
            for one in range(machine.inputs)
        ],
    }


def file_name(calls: int, observed: str) -> str:
    """Where a suite lies, below `fixtures/suite`."""
    return f"{'one-call' if calls == 1 else 'two-calls'}.{observed}.json"


def files() -> Iterator[tuple[str, str]]:
    """Every file of the suite: its name and its text."""
    for calls in (1, 2):
        for observed in OBSERVATIONS:
            yield file_name(calls, observed), written(document(calls, observed))


def written(found: Mapping[str, Any]) -> str:
    """A document as text: one entry of each list on its line, so that changes can be read."""
    parts = []
    for name, value in found.items():
        if isinstance(value, list):
            entries = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in value)
            parts.append(f'"{name}": [\n{entries}\n]')
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(folder: Path) -> list[Path]:
    """Write all files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in files():
        (folder / name).write_text(text, "utf-8")
        paths.append(folder / name)
    return paths


def machine_of(found: Mapping[str, Any]) -> tuple[Moore, list[Word], list[tuple[Word, ...]]]:
    """The machine, the state cover and the identifiers that a document holds."""
    outputs = tuple(json.dumps(state, sort_keys=True) for state in found["states"])
    steps = tuple(tuple(row) for row in found["next"])
    return (
        Moore(len(found["alphabet"]), steps, outputs),
        [tuple(word) for word in found["cover"]],
        [tuple(tuple(word) for word in words) for words in found["identifiers"]],
    )
