"""Each limit: exactly at it is taken, one more is refused, named and blocking."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from doneness.machine import Producer, Progress
from doneness.machine.transport import LimitExceededError, Limits, Receiver
from doneness.machine.transport.placing import line_of

RUN = "run"


def text(producer: Producer, length: int = 1) -> bytes:
    return line_of(producer.emit("text.delta", text="x" * length))


def lines(limit: str, maximum: int) -> tuple[bytes, bytes]:
    """A line that is exactly at the limit, and one that is over it, both with seq 2."""
    size = len(text(Producer(RUN), 0))
    producers = Producer(RUN), Producer(RUN)
    for producer in producers:
        producer.emit("tool.requested", call_id="c1")
    good, bad = producers
    match limit:
        case "line_bytes_max" | "event_bytes_max":
            return text(good, maximum - size), text(bad, maximum - size + 1)
        case "log_bytes_max":
            first = len(line_of(Producer(RUN).emit("tool.requested", call_id="c1")))
            rest = maximum - first - size - 2
            return text(good, rest), text(bad, rest + 1)
        case "id_bytes_max":
            return (
                line_of(good.emit("model.completed", response_id="é" * (maximum // 2))),
                line_of(bad.emit("model.completed", response_id="é" * (maximum // 2) + "r")),
            )
        case _:
            return (
                line_of(good.emit("tool.started", call_id="c1")),
                line_of(bad.emit("tool.requested", call_id="c2")),
            )


MAXIMA = {
    "line_bytes_max": 300,
    "event_bytes_max": 300,
    "log_bytes_max": 400,
    "calls_max": 1,
    "id_bytes_max": 50,
}


def test_every_limit_is_tried() -> None:
    assert MAXIMA.keys() == {field.name for field in fields(Limits)}


@pytest.mark.parametrize(("limit", "maximum"), MAXIMA.items())
def test_a_limit(limit: str, maximum: int) -> None:
    first = line_of(Producer(RUN).emit("tool.requested", call_id="c1"))
    at_it, over_it = lines(limit, maximum)
    good = Receiver(Progress(RUN), limits=Limits(**{limit: maximum}))
    good.feed_line(first)
    good.feed_line(at_it + b"\r\n")
    assert (good.status, good.progress.last_seq) == ("running", 2)

    bad = Receiver(Progress(RUN), limits=Limits(**{limit: maximum}))
    bad.feed_line(first + b"\n")
    with pytest.raises(LimitExceededError, match=f"{limit}={maximum}; raise the limit") as caught:
        bad.feed_line(over_it)
    error = caught.value
    assert (error.limit, error.maximum, error.value) == (limit, maximum, maximum + 1)
    assert error.place == ("line 2" if limit == "line_bytes_max" else "envelope with seq 2")
    assert bad.progress.issues == ["unknown_event"]  # in its place: no gap beside it
    assert bad.status == "unknown"
    with pytest.raises(LimitExceededError, match="more than"):  # nothing is taken in silence
        bad.feed_line(first)
    bad.close_transport()
    assert (bad.progress.duplicates, bad.status) == (0, "unknown")


def test_a_limit_that_is_exceeded_hands_on_what_waits(runs: Any) -> None:
    log = runs.done()
    receiver = Receiver(Progress(RUN), limits=Limits(event_bytes_max=300))
    receiver.feed(log[2])
    with pytest.raises(LimitExceededError, match="envelope with seq 9"):
        receiver.feed({**log[8], "data": {"text": "x" * 300}})
    assert receiver.progress.text == log[2]["data"]["text"]
    assert receiver.progress.issues == ["sequence_gap_or_reorder", "unknown_event"]


def test_a_foreign_envelope_is_counted_and_no_limit_of_ours() -> None:
    receiver = Receiver(Progress(RUN), limits=Limits(event_bytes_max=10, log_bytes_max=10))
    receiver.feed(Producer("another").emit("text.delta", text="x" * 100))
    assert (receiver.status, receiver.progress.foreign) == ("running", 1)


@pytest.mark.parametrize("line", [b"", b"[", b"\xff", b"{}{}", b"3"])
def test_a_line_that_holds_no_envelope_is_the_reducer_s_to_refuse(line: bytes) -> None:
    receiver = Receiver(Progress(RUN))
    receiver.feed_line(line)
    assert receiver.progress.issues == ["bad_envelope"]


def test_the_usual_limits_take_a_large_run() -> None:
    receiver, producer = Receiver(Progress(RUN)), Producer(RUN)
    for _ in range(300):
        receiver.feed(producer.emit("text.delta", text="x" * 10_000))
    assert (receiver.status, len(receiver.progress.text)) == ("running", 3_000_000)


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "9"])
def test_what_is_no_limit_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="calls_max: expected an integer of at least 1, got"):
        Limits(calls_max=wrong)
