"""The JavaScript module against the Python one, and through the whole kit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from doneness.generators.subjects import open_framing, open_subject, own_subjects
from doneness.machine import SSEDecoder
from doneness.machine.framing import FramingError

PROGRAM = Path(__file__).parents[2] / "machine" / "javascript" / "subject.mjs"
NODE = shutil.which("node")
SPEC = f"exec:{NODE} {PROGRAM}"

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")

KINDS = (
    "text.delta",
    "model.completed",
    "model.unresolved",
    "tool.requested",
    "tool.started",
    "tool.finished",
    "tool.failed",
    "approval.wait",
    "cancel.requested",
    "run.ended",
    "app.checked",
    "constructor",
    "__proto__",
)
KEYS = ("text", "response_id", "reason", "call_id", "outcome", "final_text", "digest", "ok", "x")
VALUES = (
    *("", "x", "合\U0001f600", "\u2028", "\ud800", "__proto__", "succeeded", "failed", "paused"),
    *(None, True, False, 0, 1, 1.0, -0.0, 0.1, 1e300, 5e-324, 2**53, 2**53 + 1, 10**30),
    *([], {}, [1], [1.0], {"a": 1}, {"a": 1.0}, [[]], {"__proto__": 1}, {"\ud800": 1}),
)


def any_data(random: Random) -> dict[str, object]:
    return {random.choice(KEYS): random.choice(VALUES) for _ in range(random.randint(0, 3))}


def good_data(random: Random, kind: str) -> dict[str, object]:
    call = {"call_id": random.choice("cd")}
    return {
        "text.delta": {"text": random.choice(("", "x", "合\U0001f600"))},
        "model.completed": {"response_id": "r"},
        "model.unresolved": {"response_id": None, "reason": ""},
        "run.ended": {
            "outcome": random.choice(("succeeded", "failed", "paused", "cancelled", "incomplete")),
            "final_text": random.choice((None, "", "x")),
        },
        # The SHA-256 of no text at all.
        "app.checked": {
            "digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "ok": random.random() < 0.5,
        },
        "approval.wait": {},
        "cancel.requested": {},
    }.get(kind, call)


def stream(random: Random) -> list[object]:
    """Mostly a good run, with everything that can go wrong now and then."""
    events: list[object] = []
    seq = 0
    clean = random.random() < 0.4
    for _ in range(random.randint(1, 14)):
        odd = 1.0 if clean else random.random()
        if events and odd < 0.12:
            before = random.choice(events)
            if isinstance(before, dict) and odd < 0.06:
                before = {**before, random.choice(("seq", "data", "kind")): random.choice(VALUES)}
            events.append(before)
            continue
        if odd < 0.16:
            events.append(random.choice((None, 1, "x", [], {}, True, {"run": "a"})))
            continue
        kind = random.choice(KINDS)
        seq += 1 if odd > 0.2 else random.choice((0, 2, 2**53, 2**64))
        event = {
            "run": "a" if odd > 0.24 else random.choice(("b", "", 1)),
            "id": random.choice((f"a:{seq}", f"a:{seq}", f"i{seq}", "__proto__", "constructor")),
            "seq": seq if odd > 0.26 else random.choice((1.0, True, "1", 0, -1, 10**30)),
            "kind": kind,
            "data": good_data(random, kind) if odd > 0.36 else any_data(random),
        }
        if odd < 0.18:
            event[random.choice(("more", "run", "data"))] = random.choice(VALUES)
        events.append(event)
    if clean:  # it may end well, if nothing stands against it
        ended = {"outcome": "succeeded", "final_text": ""}
        for kind, data in (("run.ended", ended), ("app.checked", good_data(random, "app.checked"))):
            seq += 1
            new = {"run": "a", "id": f"a:{seq}", "seq": seq, "kind": kind, "data": data}
            events.append(new)
    return events


def test_the_reducers_show_the_same_on_random_streams() -> None:
    """All observables after every event of 2,000 streams that know every trick."""
    random = Random(20261201)
    streams = [stream(random) for _ in range(2_000)]
    subject = open_subject(SPEC)
    python = own_subjects()[0]
    told = subject.every("a", streams)
    for events, here, there in zip(streams, python.every("a", streams), told, strict=True):
        for place, (ours, theirs) in enumerate(zip(here, there, strict=True)):
            shown = {name: theirs[name] for name in ours}
            assert shown == ours, events[: place + 1]
    subject.close()
    reached = {shown["status"] for all_shown in told for shown in all_shown}
    assert len(reached) == 10, "every status is reached in some stream"


BYTES = (
    *(
        b"data",
        b"data:",
        b"data: ",
        b"event: ",
        b"id: ",
        b"id",
        b"retry: ",
        b"retry:10",
        b":",
        b" ",
    ),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"x", b"5", "合".encode(), "\U0001f600".encode()),
    *(
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\x0b",
        b"\x85",
        b"\xff",
        b"\xe5",
        b"\xf0\x9f",
        b"\xed\xa0\x80",
    ),
)


def framed_here(chunks: list[bytes], errors: str) -> tuple[object, ...]:
    decoder = SSEDecoder(errors)
    events, offset = [], None
    try:
        for chunk in chunks:
            events += [(one.event, one.data, one.id) for one in decoder.feed(chunk)]
        decoder.finish()
    except FramingError as error:
        offset = error.offset
    return events, decoder.retry_ms, decoder.last_event_id, offset


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_the_decoders_give_the_same_on_random_bytes(errors: str) -> None:
    """Events, retry, last id, and where the first invalid byte is."""
    random = Random(errors)
    streams = []
    for _ in range(2_000):
        last = len(BYTES) if random.random() < 0.3 else len(BYTES) - 5  # often valid to the end
        wire = b"".join(random.choice(BYTES[:last]) for _ in range(random.randint(1, 25)))
        cuts = sorted(random.randint(0, len(wire)) for _ in range(random.randint(0, 5)))
        streams.append([wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)])
    subject = open_framing(SPEC)
    failed = 0
    for chunks, there in zip(streams, subject.frame(streams, errors), strict=True):
        events, retry, last_id, offset = framed_here(chunks, errors)
        assert there.failure is None
        assert [tuple(one) for one in there.all_events] == events, chunks
        assert (there.retry_ms, there.last_event_id) == (retry, last_id), chunks
        assert (there.error is None) == (offset is None), chunks
        if offset is not None:
            assert f"at byte {offset} " in there.error, chunks
            failed += 1
    subject.close()
    assert (failed > 100) == (errors == "strict")


def test_it_passes_the_whole_kit(tmp_path: Path) -> None:
    """As anybody's would: the checks of the contract, reducer and decoder, from the command."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "doneness.contract", "-m", "model"]
    command += ["--import-mode=importlib", "-c", os.devnull, "--rootdir", str(tmp_path), "-q"]
    command += ["-p", "no:cacheprovider", "--model-seed=1", "--model-examples=30"]
    command += ["--subject", SPEC, "--framing-subject", SPEC, "--supports=all"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "framing/p10_partitions" in done.stdout
    assert "exploration/lifecycle" in done.stdout
    left_out = [line for line in done.stdout.splitlines() if line.startswith("left out")]
    reasons = ("JSON", "shares no memory with the kit")
    assert all(any(reason in line for reason in reasons) for line in left_out), left_out
