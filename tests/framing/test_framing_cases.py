"""The framing cases: whole, byte by byte, and at every two-way split."""

from __future__ import annotations

import base64
import json
from importlib.resources import files

import pytest

from doneness.machine.framing import SSEDecoder

FOLDER = files("doneness.fixtures") / "framing"


def load():
    for case in json.loads((FOLDER / "cases.json").read_text("utf-8")):
        expected = [(e["event"], e["data"], e["id"]) for e in case["expected"]["events"]]
        yield case["name"], case["wire"].encode(), expected, case["expected"]["retry_ms"]
    for case in json.loads((FOLDER / "more.json").read_text("utf-8")):
        expected = [tuple(event) for event in case["expected"]]
        yield case["name"], base64.b64decode(case["wire"]), expected, case["retry"]


CASES = list(load())


def decode(chunks):
    decoder = SSEDecoder("replace")
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    events += decoder.finish()
    return [(event.event, event.data, event.id) for event in events], decoder


@pytest.mark.parametrize(("_name", "wire", "events", "retry"), CASES, ids=[c[0] for c in CASES])
def test_every_case_whole_by_bytes_and_at_every_split(_name, wire, events, retry):
    """The chunks are invisible."""
    partitions = [[wire], [wire[i : i + 1] for i in range(len(wire))]]
    partitions += [[wire[:cut], wire[cut:]] for cut in range(len(wire) + 1)]
    for chunks in partitions:
        found, decoder = decode(chunks)
        assert (found, decoder.retry_ms) == (events, retry), chunks
