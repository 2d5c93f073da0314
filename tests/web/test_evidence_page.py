"""The page and Python give the same reasons: what is missing for *done*, in the same words."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from doneness.fixtures.cases import every
from doneness.machine.evidence import TEXTS, Lack, missing
from doneness.machine.reducer import Progress
from doneness.spec.vocabulary import LABELS, Status

MACHINE = Path(__file__).parent.parent.parent / "machine"

SCRIPT = """
import { readFileSync } from "node:fs";
const [reducer, evidence, words] = process.argv.slice(1);
const { Progress } = await import(reducer);
const { LACKS, REASONS, missing, reason } = await import(evidence);
const { WORDS, STATUS_WORDS, MARKS, CALLS, FACTS } = await import(words);
const results = JSON.parse(readFileSync(0, "utf8")).map(({ run, events }) => {
  const progress = new Progress(run);
  const after = () => [progress.status, missing(progress), reason(progress)];
  const steps = [after()];
  for (const event of events) {
    if (event === null) progress.closeTransport(); else progress.feed(event);
    steps.push(after());
  }
  return steps;
});
console.log(JSON.stringify({ results, LACKS, REASONS, WORDS, STATUS_WORDS, MARKS, CALLS, FACTS }));
"""

HELD = {"kind": "approval.wait", "data": {}}
CANCEL = {"kind": "cancel.requested", "data": {}}
OPEN = {"kind": "tool.requested", "data": {"call_id": "c"}}
BAD = {"kind": "model.unresolved", "data": {"response_id": None, "reason": "x"}}
GOOD = {"kind": "model.completed", "data": {"response_id": "m"}}
ENDS = [
    {"kind": "run.ended", "data": {"outcome": outcome, "final_text": None}}
    for outcome in ("paused", "cancelled", "failed", "incomplete")
]
STREAMS = [[each] for each in (HELD, CANCEL, OPEN, BAD, GOOD, *ENDS)]
STREAMS += [[OPEN, BAD, GOOD], [OPEN, BAD], [CANCEL, OPEN], [HELD, CANCEL]]
STREAMS += [[each, end] for each in (OPEN, BAD, CANCEL, HELD) for end in ENDS]


def cases() -> list[dict[str, object]]:
    """Each stream of the project's cases, and some for what those leave out; null is EOF."""
    made: list[dict[str, object]] = [
        {"run": case.run, "events": [*case.events, None]} for case in every()
    ]
    for stream in STREAMS:
        events = [
            {"run": "r", "id": str(seq), "seq": seq, **each}
            for seq, each in enumerate(stream, start=1)
        ]
        made.append({"run": "r", "events": [*events, None]})
    return made


def expected(case: dict[str, object]) -> list[tuple[str, list[list[str]]]]:
    progress = Progress(str(case["run"]))
    steps = [(str(progress.status), [list(map(str, each)) for each in missing(progress)])]
    events = case["events"]
    assert isinstance(events, list)
    for event in events:
        progress.close_transport() if event is None else progress.feed(event)
        steps.append((str(progress.status), [list(map(str, each)) for each in missing(progress)]))
    return steps


def test_the_page_says_what_python_says() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    modules = ["javascript/doneness.mjs", "web/page/evidence.mjs", "web/page/words.mjs"]
    paths = [str(MACHINE / module) for module in modules]
    asked = cases()
    command = [node, "--input-type=module", "-e", SCRIPT, *paths]
    out = subprocess.run(
        command, input=json.dumps(asked).encode(), capture_output=True, check=True
    ).stdout
    said = json.loads(out)
    reasons: dict[str, set[str]] = {}
    for case, steps in zip(asked, said["results"], strict=True):
        assert [(status, lacks) for status, lacks, _ in steps] == expected(case)
        for status, _, (name, _subject) in steps:
            reasons.setdefault(name, set()).add(status)
    # The page shows one run at a time, and a run alone cannot lack a new task.
    assert said["LACKS"] == {
        language: {str(lack): text for lack, text in texts.items() if lack is not Lack.NEW_TASK}
        for language, texts in TEXTS.items()
    }
    # Each reason is the reason for statuses of its own, and each has its words.
    assert set(reasons) == set(said["REASONS"]["en"]) == set(said["REASONS"]["zh"])
    assert reasons.pop("issues") == reasons.pop("closed") == {"unknown"}
    assert reasons.pop("unresolved") == {"unknown"}
    assert reasons.pop("ended") == {"cancelled", "failed", "incomplete"}
    assert reasons == {
        "paused": {"waiting"},
        "waiting": {"waiting"},
        "unjudged": {"checking"},
        "accepted": {"done"},
        "refused": {"rejected"},
        "cancelling": {"cancelling"},
        "running": {"running"},
    }
    assert set(said["WORDS"]) == set(said["STATUS_WORDS"]) == set(LABELS)
    assert set(said["WORDS"]["en"]) == set(said["WORDS"]["zh"])
    for statuses in (said["MARKS"], *said["STATUS_WORDS"].values()):
        assert set(statuses) == set(Status)
    for both in (*said["CALLS"].values(), *said["FACTS"].values()):
        assert set(LABELS) <= set(both)
