"""Talks to a program: starts it, greets it, numbers the questions, reads the answers.

A program that was ended for misbehaving is started anew for the next question. Once it hung, it
is given less time: what it must answer for is on record, and the search for the shortest stream
that makes it hang would take minutes otherwise.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from doneness.generators.subjects import protocol
from doneness.generators.subjects.program import (
    CannotStartError,
    Limits,
    MisbehavedError,
    Patience,
    Program,
    Verdict,
)

_SETTLE_SECONDS: Final = 0.005
_SLOW: Final = (Verdict.HANGS, Verdict.LATE)
_ENDED: Final = (Verdict.CRASHED, Verdict.EXITED)
_END_SECONDS_MIN: Final = 0.5
_TELLING: Final = re.compile(r"\b\w*(?:Error|Exception|error|panic|cannot|not found)\b.*")
_SUSPECT_SECONDS: Final = 0.5
_SUSPECT_START_SECONDS: Final = 3.0


class Conversation:
    """Questions to one program and its answers.

    Attributes:
        capabilities: What the program says that it can do.
        name: What it calls itself, or its command.

    Raises:
        CannotStartError: there is no such command, it ends before it was asked anything, or it
            speaks another version.
    """

    def __init__(self, command: Sequence[str], limits: Limits | None = None) -> None:
        self._command = tuple(command)
        self._limits = limits or Limits()
        self._program: Program | None = None
        self._patience = Patience()
        self._asked = 0
        self._numbered = False
        self._greets = True
        self._greeted = False
        self._fresh = False  # started, and not heard of yet
        self.capabilities: frozenset[str] = frozenset()
        self.name = " ".join(command)
        self._start()

    def __contains__(self, capability: str) -> bool:
        return capability in self.capabilities

    @property
    def is_given_up(self) -> bool:
        """Whether the program misbehaved so often that it is not asked any more."""
        return self._patience.is_lost

    def close(self) -> None:
        """End the program; the next question starts it anew."""
        if self._program is not None:
            self._program.end()
            self._program = None

    def ask(self, questions: Sequence[tuple[str, bytes]]) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Ask, and yield each answer with the line it came in.

        Args:
            questions: The op, and the rest of the question as encoded members.

        Raises:
            MisbehavedError: from the answer on that does not come, or is none. Whoever gets it,
                or finds an answer wrong himself, says so with `blame`.
        """
        program = self._program or self._start()
        first_number = self._asked + 1
        self._asked += len(questions)
        lines = [
            b'{"n":%d,"op":"%b"%b}' % (number, op.encode(), rest)
            for number, (op, rest) in enumerate(questions, first_number)
        ]
        settle = _SETTLE_SECONDS
        if self._numbered:
            # The greeting again, as a full stop: an answer too many would come before its own.
            lines.append(self._greeting())
            settle = 0.0
        fresh, self._fresh = self._fresh, False
        answers = program.ask(lines, first=fresh, settle_seconds=settle)
        for number, line in enumerate(answers, first_number):
            answer = protocol.answer(line, number, numbered=self._numbered)
            if number - first_number < len(questions):
                yield answer, line

    def blame(self, error: MisbehavedError) -> None:
        """The program misbehaved: end it, and remember that."""
        self.close()
        self._patience.lose(error.verdict)
        if error.verdict in _SLOW:
            seconds = min(self._limits.answer_seconds, _SUSPECT_SECONDS)
            self._limits = replace(self._limits, answer_seconds=seconds, late_seconds=seconds)
            if not self._greets:  # else the time to start is no part of an answer
                start = min(self._limits.start_seconds, _SUSPECT_START_SECONDS)
                self._limits = replace(self._limits, start_seconds=start)

    def _start(self) -> Program:
        program = Program(self._command, self._limits)
        begun = time.monotonic()
        if self._greets:
            try:
                self._greet(program)
            except MisbehavedError as error:
                if self._greeted:
                    raise  # it knows how to; this time it did not answer
                self._require_waiting(error, time.monotonic() - begun)
                # It knows no greeting: then it has no capability either. If it is out of order
                # altogether, the first stream will show that, and say on which event.
                self._greets = False
                self.blame(error)
                program = Program(self._command, self._limits)
            except BaseException:
                program.end()
                raise
        self._greeted = self._greets
        self._fresh = not self._greets
        self._program = program
        return program

    def _require_waiting(self, error: MisbehavedError, seconds: float) -> None:
        """A program that never answered, and ends again with nothing asked, cannot be checked."""
        if error.verdict not in _ENDED:
            return
        program = Program(self._command, self._limits)
        ended = program.ends_unasked(max(2 * seconds, _END_SECONDS_MIN))
        program.end()
        if ended is not None:
            command = " ".join(self._command)
            raise CannotStartError(
                f"{command!r} {ended.verdict} before anything was asked ({_in_one_line(ended)}); "
                "expected a program that waits for JSON Lines on stdin and answers each on "
                f"stdout: run {command!r} by hand to see why it ends"
            )

    def _greet(self, program: Program) -> None:
        line = self._greeting()
        answers = program.ask([line], first=True, settle_seconds=_SETTLE_SECONDS)
        for answer in answers:
            value = protocol.answer(answer, self._asked, numbered=False)
            self._numbered = value.get("n") == self._asked
            self.capabilities, name = protocol.hello_in(value)
            self.name = name or self.name

    def _greeting(self) -> bytes:
        self._asked += 1
        return b'{"n":%d,"op":"hello","protocol":%d}' % (self._asked, protocol.VERSION)


def _in_one_line(error: MisbehavedError) -> str:
    """How it ended, with the line of its last words that says why."""
    how, _, said = error.detail.partition("; last on stderr: ")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    return "; ".join([how, *(telling or lines)[-1:]])
