"""A reducer in another process as a subject: traces become questions, answers snapshots.

With the capability `trace` a whole trace is one question. Where a program then crashes or hangs,
the trace is told again event by event, so that the verdict stands at the event that led there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from doneness.generators.oracle import END_OF_TRANSPORT
from doneness.generators.subject import Snapshot, Trace
from doneness.generators.subjects import protocol
from doneness.generators.subjects.conversation import Conversation
from doneness.generators.subjects.program import Limits, MisbehavedError
from doneness.generators.subjects.protocol import json_of

_Question: TypeAlias = tuple[str, bytes]

NOT_RUN: Final[Snapshot] = {"failure": "not run: the program misbehaved on an earlier stream"}
GIVEN_UP: Final[Snapshot] = {
    "failure": "not run: the program misbehaved too often, and was given up"
}
_BATCH: Final = 256
"""Traces that travel at once."""


class ReducerProgram:
    """A program that speaks the protocol.

    Attributes:
        name: What it calls itself, or its command.
        json_only: Always: events reach it as JSON.
        exact_numbers: Whether it gets events as text, and so can tell 1 from 1.0.

    Raises:
        CannotStartError: there is no such command, or it speaks another version.
    """

    json_only = True

    def __init__(self, command: Sequence[str], limits: Limits | None = None) -> None:
        self._talk = Conversation(command, limits)
        self.name = self._talk.name
        self.exact_numbers = protocol.TEXT in self._talk
        self._events = protocol.Events(as_text=self.exact_numbers)

    def close(self) -> None:
        """End the program."""
        self._talk.close()

    def last(self, run: str, traces: Sequence[Trace]) -> list[Snapshot]:
        """What is shown at the end of each trace, each begun anew."""
        return [shown[-1] for shown in self._told(run, traces, every=False)]

    def every(self, run: str, traces: Sequence[Trace]) -> list[list[Snapshot]]:
        """What is shown after each event of each trace."""
        return self._told(run, traces, every=True)

    def _told(self, run: str, traces: Sequence[Trace], *, every: bool) -> list[list[Snapshot]]:
        if self._talk.is_given_up:
            return [[GIVEN_UP] * (len(trace) if every else 1) for trace in traces]
        told: list[list[Snapshot]] = []
        whole = protocol.TRACE in self._talk
        self._events = protocol.Events(as_text=self.exact_numbers)
        for start in range(0, len(traces), _BATCH):
            batch = traces[start : start + _BATCH]
            ask = self._whole if whole and all(batch) else self._stepwise  # no trace is empty
            try:
                ask(run, batch, told, every=every)
            except MisbehavedError as error:
                self._talk.blame(error)
                del told[start + len(batch) - 1 :]  # it may be about the last, told already
                trace = traces[len(told)]
                told.append(self._located(run, trace, error) if every else [_failure(error)])
                rest = traces[len(told) :]
                return told + [[NOT_RUN] * (len(trace) if every else 1) for trace in rest]
        return told

    def _whole(
        self, run: str, traces: Sequence[Trace], told: list[list[Snapshot]], *, every: bool
    ) -> None:
        """One question a trace."""
        head = b',"run":%b,"every":%b,"events":[' % (json_of(run), json_of(every))
        questions = [
            (protocol.TRACE, b"%b%b]" % (head, b",".join(map(self._events.encoded, trace))))
            for trace in traces
        ]
        for trace, (answer, line) in zip(traces, self._talk.ask(questions), strict=True):
            shown = answer.get("shown")
            due = len(trace) if every else 1
            if not isinstance(shown, list) or len(shown) != due:
                raise protocol.garbage(f'"shown" is no list of {due}', line)
            told.append([protocol.shown_in(one, line) for one in shown])

    def _stepwise(
        self, run: str, traces: Sequence[Trace], told: list[list[Snapshot]], *, every: bool
    ) -> None:
        """One question an event, all of them sent at once."""
        asked = [self._steps(run, trace, every=every) for trace in traces]
        answers = self._talk.ask([question for questions in asked for question in questions])
        for questions in asked:
            shown = [
                protocol.shown_in(answer, line)
                for _, (answer, line) in zip(questions, answers, strict=False)
            ]
            told.append(self._kept(shown, every=every))
        for _ in answers:  # lets it notice what is too much
            raise AssertionError("more answers than questions")

    def _steps(self, run: str, trace: Trace, *, every: bool) -> list[_Question]:
        snapshot: list[_Question] = [(protocol.SNAPSHOT, b"")]
        asks = protocol.SNAPSHOT in self._talk
        questions: list[_Question] = [("open", b',"run":%b' % json_of(run))]
        for event in trace:
            if event is END_OF_TRANSPORT:
                questions.append(("close", b""))
            else:
                questions.append(("feed", b',"event":%b' % self._events.encoded(event)))
            questions += snapshot * (asks and every)
        return questions + snapshot * (asks and not every)

    def _kept(self, shown: list[dict[str, Any]], *, every: bool) -> list[Snapshot]:
        """Those of the answers that show what is asked for."""
        if not every:
            return [shown[-1]]
        return list(shown[2::2] if protocol.SNAPSHOT in self._talk else shown[1:])

    def _located(self, run: str, trace: Trace, error: MisbehavedError) -> list[Snapshot]:
        """The trace once more, one event at a time; the verdict stands where it falls.

        If the program behaves this time, the verdict stands at the end of the trace.
        """
        asked = self._steps(run, trace, every=True)
        shown: list[dict[str, Any]] = []
        try:
            for question in asked:
                [(answer, line)] = self._talk.ask([question])
                shown.append(protocol.shown_in(answer, line))
        except MisbehavedError as again:
            self._talk.blame(again)
            error = again
        before = self._kept(shown, every=True)[: max(0, len(trace) - 1)]
        return before + [_failure(error)] * (len(trace) - len(before))


def _failure(error: MisbehavedError) -> Snapshot:
    return {"failure": str(error), "verdict of the program": str(error.verdict)}
