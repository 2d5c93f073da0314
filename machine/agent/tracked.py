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
from doneness.spec.vocabulary import Kind, Language, Outcome


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

    def wait_for_approval(self) -> list[Envelope]:
        """Somebody must approve before the host goes on."""
        return self._reduce([self._producer.emit(Kind.APPROVAL_WAIT)])

    def pause(self) -> list[Envelope]:
        """The host has closed the loop until an approval comes; a new run resumes."""
        paused = Outcome.PAUSED.value
        return self._reduce([self._producer.emit(Kind.RUN_ENDED, outcome=paused, final_text=None)])

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


class TrackedRuns:
    """The runs of one log, one after the other: each begins with its first round.

    Args:
        language: Of the labels.
    """

    __slots__ = ("_count", "_fed", "_language", "_run")

    def __init__(self, language: Language = "en") -> None:
        self._language: Language = language
        self._count = 0
        self._fed = False  # the run has an event; the first need not make an envelope
        self._run = self._next()

    def cut_by(self, event: Mapping[str, object]) -> str | None:
        """The status line of the run before, if `event` begins the next and that one never ended.

        Such a run was killed, or its consumer left: it is not known how it ended.
        """
        progress = self._run.progress
        if not self._begins(event) or not self._fed or progress.terminal is not None:
            return None
        return self.close()

    def line_after(self, event: Mapping[str, object]) -> str:
        """Take one event of the log; the status line of its run after it."""
        if self._begins(event) and self._fed:
            self._run = self._next()
        self._fed = True
        return self._run.line_after(event)

    def close(self) -> str:
        """The log is read; the status line of its last run."""
        self._run.close()
        return self._run.line

    def _next(self) -> TrackedRun:
        self._count += 1
        return TrackedRun(f"run-{self._count}", language=self._language)

    @staticmethod
    def _begins(event: Mapping[str, object]) -> bool:
        return event.get("type") == "iteration_start" and event.get("iteration") == 1
