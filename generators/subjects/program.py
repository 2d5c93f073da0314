"""A program under test: questions in, answers out, a line each, and no way for it to hang us.

The program runs in a process group of its own, so that whatever it starts ends with it. One loop
serves its three pipes at once: it never waits for a pipe that the program does not read, stderr is
always drained, and every answer has a deadline. What a program does wrong as a *program* has a
verdict of its own, apart from what it says.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import IO, Final

_PIPE_BYTES: Final = 1 << 16
_LOOK_SECONDS: Final = 0.1
_BYTES_PER_SECOND_MIN: Final = 1_000_000
"""A long question may take longer: a second more for each of these."""


@unique
class Verdict(StrEnum):
    """What a program does wrong as a program."""

    CRASHED = "crashed"
    EXITED = "exited early"
    HANGS = "hangs"
    LATE = "answered late"
    TWICE = "answered twice"
    GARBAGE = "printed garbage"
    HUGE = "printed a huge line"
    FLOODS = "floods stderr"


SLOW_MAX: Final = 12
FAST_MAX: Final = 100


class Patience:
    """How often a subject may misbehave before it is given up.

    It is guilty from the first time on; it is asked again only to find the shortest stream. What
    is quickly seen may happen often, a hang costs time.
    """

    def __init__(self) -> None:
        self._slow = SLOW_MAX
        self._fast = FAST_MAX

    def lose(self, verdict: Verdict) -> None:
        """It misbehaved once more."""
        if verdict in (Verdict.HANGS, Verdict.LATE):
            self._slow -= 1
        else:
            self._fast -= 1

    @property
    def is_lost(self) -> bool:
        """Whether it is not asked any more."""
        return self._slow <= 0 or self._fast <= 0


class MisbehavedError(Exception):
    """The program broke the rules of the conversation; it was ended.

    Attributes:
        verdict: How.
        detail: What exactly was seen.
    """

    def __init__(self, verdict: Verdict, detail: str) -> None:
        super().__init__(f"{verdict}: {detail}")
        self.verdict = verdict
        self.detail = detail


class CannotStartError(ValueError):
    """The command cannot be run at all."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is asked of a program.

    Attributes:
        start_seconds: For the first answer, the start of the program included.
        answer_seconds: For each answer, and a second more for each megabyte of its question.
        late_seconds: How much longer an answer is waited for, to tell late from never.
        line_bytes_max: Of one answer.
        stderr_bytes_max: Between two answers.
    """

    start_seconds: float = 10.0
    answer_seconds: float = 4.0
    late_seconds: float = 2.0
    line_bytes_max: int = 1 << 28
    stderr_bytes_max: int = 1 << 20


class Program:
    """A running program.

    Args:
        command: What to run, the arguments included; no shell is involved.

    Raises:
        CannotStartError: there is no such command, or it may not be run.
    """

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._limits = limits
        try:
            self._process = subprocess.Popen(  # noqa: S603 # the user's own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CannotStartError(
                f"cannot run {command[0]!r}: {reason}; "
                "expected a program that is on the PATH, or the path of one"
            ) from None
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = _present(pipes)
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)
        self._read = bytearray()  # of stdout, what is no whole line yet or was not asked for
        self._lines: deque[bytes] = deque()  # whole lines that nobody took yet
        self._said_last = b""  # on stderr, its end
        self._said_bytes = 0  # on stderr, since the last answer
        self._ended = False  # whether stdout is closed
        self.end = weakref.finalize(self, _end, self._process, self._selector, pipes)
        """End the program and everything it started; again has no effect."""

    @property
    def pid(self) -> int:
        """The id of the process, which is also that of its group."""
        return self._process.pid

    def ask(
        self, questions: Sequence[bytes], *, first: bool = False, settle_seconds: float = 0.0
    ) -> Iterator[bytes]:
        """Send lines, and yield the answer to each, in order.

        Args:
            questions: Each a whole line, without its line end.
            first: Whether the program may still be starting.
            settle_seconds: How long to listen for lines too many at the end.

        Raises:
            MisbehavedError: from the answer on that does not come, or is none; and at the end, if
                there is more than was asked for. The program is ended then.
        """
        well = False
        try:
            self._listen(0.0)
            self._nothing_more()
            yield from self._conversation(questions, first=first)
            self._listen(settle_seconds)
            self._nothing_more()
            well = True
        finally:
            if not well:  # also where nobody wants the rest of the answers
                self.end()

    def ends_unasked(self, seconds: float) -> MisbehavedError | None:
        """How it ended, if it does so within some time although nobody asked it anything."""
        self._listen(seconds)
        return self._gone() if self._ended else None

    def _conversation(self, questions: Sequence[bytes], *, first: bool) -> Iterator[bytes]:
        unsent = memoryview(b"".join(b"%b\n" % question for question in questions))
        if unsent:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
        for question in questions:
            patience = self._limits.start_seconds if first else self._limits.answer_seconds
            patience += len(question) / _BYTES_PER_SECOND_MIN
            started = time.monotonic()
            self._said_bytes = 0
            while not self._lines:
                left = started + patience - time.monotonic()
                if left <= 0:
                    raise self._overdue(started, patience)
                unsent = self._serve(left, unsent)
                self._still_well()
            first = False
            yield self._lines.popleft()
        if unsent:
            raise MisbehavedError(Verdict.TWICE, "answered questions that it had not read")

    def _serve(self, seconds: float, unsent: memoryview) -> memoryview:
        """Wait for some pipe, and serve those that are ready."""
        ready = self._selector.select(min(seconds, _LOOK_SECONDS))
        if not ready:
            # What it started may hold its pipes open after it is gone.
            self._ended = self._ended or self._process.poll() is not None
        for key, _ in ready:
            if key.fileobj is self._stdin:
                try:
                    unsent = unsent[os.write(self._stdin.fileno(), unsent[:_PIPE_BYTES]) :]
                except BlockingIOError:
                    continue
                except OSError:  # it reads no more; whether it answers shows on stdout
                    unsent = unsent[:0]
                if not unsent:
                    self._selector.unregister(self._stdin)
            else:
                self._take(self._stdout if key.fileobj is self._stdout else self._stderr)
        return unsent

    def _take(self, pipe: IO[bytes]) -> None:
        try:
            some = os.read(pipe.fileno(), _PIPE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            some = b""
        if not some:
            self._selector.unregister(pipe)
            self._ended = self._ended or pipe is self._stdout
        elif pipe is self._stderr:
            self._said_bytes += len(some)
            self._said_last = (self._said_last + some)[-1000:]
        elif b"\n" not in some:
            self._read += some
        else:
            *lines, rest = (bytes(self._read) + some).split(b"\n")
            self._lines += lines
            self._read = bytearray(rest)

    def _listen(self, seconds: float) -> None:
        """Hear what the program says unasked, for as long at most."""
        until = time.monotonic() + seconds
        left = seconds
        while True:
            for key, _ in self._selector.select(left):
                self._take(self._stdout if key.fileobj is self._stdout else self._stderr)
            left = until - time.monotonic()
            if left <= 0 or self._lines or self._ended:
                return

    def _nothing_more(self) -> None:
        if self._lines or self._read:
            more = self._lines[0] if self._lines else bytes(self._read)
            raise MisbehavedError(Verdict.TWICE, f"nobody asked for {_shown(more)}")

    def _still_well(self) -> None:
        if len(self._read) > self._limits.line_bytes_max:
            raise MisbehavedError(
                Verdict.HUGE, f"a line of more than {self._limits.line_bytes_max:,} bytes"
            )
        if self._said_bytes > self._limits.stderr_bytes_max:
            most = self._limits.stderr_bytes_max
            raise MisbehavedError(
                Verdict.FLOODS, f"more than {most:,} bytes before an answer{self._last_words()}"
            )
        if self._ended and not self._lines:
            raise self._gone()

    def _gone(self) -> MisbehavedError:
        try:
            status = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return MisbehavedError(Verdict.EXITED, f"closed its stdout{self._last_words()}")
        while self._stderr in self._selector.get_map() and self._selector.select(0.1):
            self._take(self._stderr)
        unfinished = f" after {_shown(bytes(self._read))}" if self._read else ""
        if status < 0:
            name = signal.Signals(-status).name
            how = f"killed by {name}{unfinished}"
        else:
            how = f"exit status {status}{unfinished}"
        verdict = Verdict.CRASHED if status else Verdict.EXITED
        return MisbehavedError(verdict, how + self._last_words())

    def _overdue(self, started: float, patience: float) -> MisbehavedError:
        self._listen(self._limits.late_seconds)
        if self._lines:
            took = time.monotonic() - started
            return MisbehavedError(
                Verdict.LATE, f"after {took:.1f} s; the deadline is {patience:.1f} s"
            )
        return MisbehavedError(
            Verdict.HANGS, f"no answer within {patience:.1f} s{self._last_words()}"
        )

    def _last_words(self) -> str:
        said = self._said_last.decode("utf-8", "replace").strip()
        return f"; last on stderr: {said}" if said else ""


def _present(pipes: tuple[IO[bytes] | None, ...]) -> tuple[IO[bytes], ...]:
    assert all(pipe is not None for pipe in pipes)
    return tuple(pipe for pipe in pipes if pipe is not None)


def _end(
    process: subprocess.Popen[bytes],
    selector: selectors.BaseSelector,
    pipes: tuple[IO[bytes] | None, ...],
) -> None:
    # Its group, which it leads: the id belongs to nobody else while any member is there.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    selector.close()
    for pipe in pipes:
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _shown(line: bytes, width_max: int = 80) -> str:
    text = ascii(line.decode("utf-8", "replace"))
    return text if len(text) <= width_max else f"{text[: width_max - 1]}…"
