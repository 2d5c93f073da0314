"""One run of the loop with its status: loop events → envelopes → reducer.

Watchers only read events and know no adapter, so what they show as the status is handed to them.
It is composed here, once, for the terminal, the web page and the replay of a log alike; the same
events give the same status after each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doneness.machine.acceptance import digest_of
from doneness.machine.adapters.agent_loop import AgentLoopAdapter
from doneness.machine.producer import Envelope, Producer
from doneness.machine.reducer import Progress
from doneness.spec.vocabulary import Kind, Language


class TrackedRun:
    """The status of one run, from its loop events.

    Args:
        run: The id of the run, chosen by the host.
        language: Of the label in `line`.
    """

    __slots__ = ("_adapter", "_producer", "progress")

    def __init__(self, run: str, *, language: Language = "en") -> None:
        self._producer = Producer(run)
        self._adapter = AgentLoopAdapter(self._producer)
        self.progress = Progress(run, language=language)

    @property
    def line(self) -> str:
        """The status and its label, for a status line."""
        return f"{self.progress.status}: {self.progress.message}"

    def feed(self, event: Mapping[str, object]) -> list[Envelope]:
        """Take one loop event; returns the envelopes that it made."""
        return self._reduce(self._adapter.feed(event))

    def line_after(self, event: Mapping[str, object]) -> str:
        """Take one loop event; returns the status line after it."""
        self.feed(event)
        return self.line

    def request_cancel(self) -> list[Envelope]:
        """Put a cancel request on record."""
        return self._reduce(self._adapter.request_cancel())

    def confirm_cancel(self) -> list[Envelope]:
        """The loop was closed after a cancel request."""
        return self._reduce(self._adapter.confirm_cancel())

    def judge(self, *, ok: bool) -> list[Envelope]:
        """The application's verdict on the final text of a succeeded run.

        Raises:
            ValueError: there is no success to judge.
        """
        text = self.progress.final_text
        if self.progress.status != "checking" or text is None:
            raise ValueError(f"no success to judge: the run is {self.progress.status}")
        digest = digest_of(text)
        return self._reduce([self._producer.emit(Kind.APP_CHECKED, digest=digest, ok=ok)])

    def close(self) -> None:
        """The events have ended, whatever the last one was."""
        self.progress.close_transport()

    def _reduce(self, envelopes: Iterable[Envelope]) -> list[Envelope]:
        kept = list(envelopes)
        for envelope in kept:
            self.progress.feed(envelope)
        return kept
