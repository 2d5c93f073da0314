"""Runs for the tests of the transport, and what a viewer can see of one."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import pytest

from doneness.machine import Producer, Progress

Envelope = dict[str, object]

OBSERVED: tuple[str, ...] = (
    "status",
    "message",
    "issues",
    "text",
    "tools",
    "model_responses",
    "unresolved",
    "foreign",
    "waiting",
    "cancel_requested",
    "terminal",
    "final_text",
    "verdict",
    "closed",
    "last_seq",
)


class Runs:
    """Makes whole runs, and reads what came of them."""

    @staticmethod
    def done(
        run: str = "run", texts: Iterable[str] = ("合成", " 巡检", "\u2028")
    ) -> list[Envelope]:
        """A run that ends as done."""
        producer = Producer(run)
        log = [producer.emit("tool.requested", call_id="c1")]
        log.append(producer.emit("tool.started", call_id="c1"))
        log += [producer.emit("text.delta", text=text) for text in texts]
        log.append(producer.emit("tool.finished", call_id="c1"))
        log.append(producer.emit("model.completed", response_id="r1"))
        log.append(producer.emit("run.ended", outcome="succeeded", final_text="ok"))
        digest = sha256(b"ok").hexdigest()
        log.append(producer.emit("app.checked", digest=digest, ok=True))
        return [dict(envelope) for envelope in log]

    @staticmethod
    def seen(progress: Progress) -> dict[str, object]:
        """Everything but the number of duplicates."""
        return {name: getattr(progress, name) for name in OBSERVED}

    @staticmethod
    def fed(events: Iterable[object], run: str = "run") -> Progress:
        """A reducer that took these."""
        progress = Progress(run)
        for event in events:
            progress.feed(event)
        return progress


@pytest.fixture(scope="session")  # it holds nothing, so examples can share it
def runs() -> type[Runs]:
    return Runs
