"""The 30 streams of the contract: every step, the end, the fields and the labels."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from doneness.machine import Progress

FOLDER = files("doneness.fixtures") / "progress"
CASES = json.loads((FOLDER / "cases.json").read_text("utf-8"))
LABELS = json.loads((FOLDER / "labels.zh.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("as_bytes", [False, True], ids=["objects", "bytes"])
def test_every_step_and_the_end(case: dict, as_bytes: bool) -> None:
    progress = Progress(case["run"])
    shown = []
    for event in case["events"]:
        if as_bytes:
            progress.feed_json(json.dumps(event, ensure_ascii=False).encode())
        else:
            progress.feed(event)
        shown.append(progress.status)
        assert progress.message == LABELS[progress.status]
    assert shown == case["expected_steps"]
    progress.close_transport()
    assert progress.status == case["expected_final"]
    for field, expected in case["assertions"].items():
        assert getattr(progress, field) == expected
