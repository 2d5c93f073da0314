"""An SSE decoder of anybody's on all framing cases: P10, promptness, and nothing at the end."""

from __future__ import annotations

import base64
import json
from importlib.resources import files
from random import Random

import pytest

pytestmark = pytest.mark.model

FOLDER = files("doneness.fixtures") / "framing"
RANDOM_PARTITIONS = 20


def cases():
    """Name, bytes, events, retry, last event id (None: not said), whether it is valid UTF-8."""
    for case in json.loads((FOLDER / "cases.json").read_text("utf-8")):
        expected = case["expected"]
        events = [(one["event"], one["data"], one["id"]) for one in expected["events"]]
        yield case["name"], case["wire"].encode(), events, expected["retry_ms"], None, True
    for case in json.loads((FOLDER / "more.json").read_text("utf-8")):
        events = [tuple(event) for event in case["expected"]]
        wire, valid = base64.b64decode(case["wire"]), not case["invalid_utf8"]
        yield case["name"], wire, events, case["retry"], case["last_event_id"], valid


def partitions(wire, random):
    """Whole, byte by byte, at every two-way split, and some at random."""
    yield [wire]
    yield [wire[place : place + 1] for place in range(len(wire))]
    for cut in range(len(wire) + 1):
        yield [wire[:cut], wire[cut:]]
    for _ in range(RANDOM_PARTITIONS):
        cuts = sorted(random.randint(0, len(wire)) for _ in range(random.randint(2, 6)))
        yield [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]


@pytest.fixture
def framed(framing_subject, model_row, request):
    """What a decoder makes of the partitions of a stream; fails where it does not answer."""
    layer = f"framing/{request.node.originalname.removeprefix('test_')}"
    model_row.update(layer=layer, subject=framing_subject.name, examples=0)

    def frame(streams, errors):
        streams = list(streams)
        model_row["examples"] += len(streams)
        for chunks, found in zip(streams, framing_subject.frame(streams, errors), strict=True):
            if found.failure is not None:
                pytest.fail(f"{framing_subject.name} {found.failure}\non {chunks}", pytrace=False)
            yield chunks, found

    return frame


def differs(framing_subject, case, chunks, what, expected, shown):
    """Fail with the chunks that show the difference."""
    pytest.fail(
        f"{framing_subject.name} differs on {case}, in the chunks {chunks}:\n"
        f"  {what}: declared {expected!r}\n  {what}: shown    {shown!r}",
        pytrace=False,
    )


def policy_of(framing_subject, valid):
    """The policy to try a case with; None where the decoder cannot do what it needs."""
    if valid:
        return framing_subject.policies[0]
    return "replace" if "replace" in framing_subject.policies else None


def test_p10_partitions(framing_subject, framed, model_seed):
    """P10: every case gives its events, however its bytes are cut."""
    random = Random(model_seed)
    for case, wire, events, retry, last_event_id, valid in cases():
        policy = policy_of(framing_subject, valid)
        if policy is None:
            continue
        for chunks, found in framed(partitions(wire, random), policy):
            shown = {"events": [tuple(event) for event in found.all_events], "error": found.error}
            expected = {"events": events, "error": None}
            if found.retry_ms != "not shown":
                shown["retry"], expected["retry"] = found.retry_ms, retry
            if found.last_event_id != "not shown" and last_event_id is not None:
                shown["last id"], expected["last id"] = found.last_event_id, last_event_id
            for what, value in expected.items():
                if shown[what] != value:
                    differs(framing_subject, case, chunks, what, value, shown[what])


def test_promptness(framing_subject, framed):
    """An event is out with the byte that ends its blank line, and never at the end."""
    for end in ("\n\n", "\r\r", "\r\n\r", "\n\r", "\r\n\n"):
        wire = f"id: 1\ndata: x{end}".encode()
        bytes_ = [wire[place : place + 1] for place in range(len(wire))]
        for chunks, found in framed([bytes_], framing_subject.policies[0]):
            due = [0] * (len(wire) - 1) + [1, 0]
            shown = [len(some) for some in found.events]
            if shown != due:
                differs(framing_subject, repr(end), chunks, "events per chunk", due, shown)


def test_strict_policy(framing_subject, framed):
    """Under `strict` invalid or truncated UTF-8 is an error, after the events of earlier chunks.

    What came before it in the same chunk may be lost with it, where a decoder raises.
    """
    if "strict" not in framing_subject.policies:
        pytest.skip("left out: the policy strict, which the decoder does not have")
    for wrong in (
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf5",
        b"\xef",
        b"\xef\xbb",
        b"\xe2\x82\n",
    ):
        wire = b"data: x\n\ndata: " + wrong
        streams = [[wire], [wire[place : place + 1] for place in range(len(wire))]]
        for chunks, found in framed(streams, "strict"):
            events = [tuple(event) for event in found.all_events]
            shown = (events, found.error is not None)
            lost = len(chunks) == 1 and events == []
            if found.error is None or not (lost or events == [("message", "x", "")]):
                differs(framing_subject, wrong, chunks, "events, error", "x, yes", shown)
