"""The whole way in: limits, then order, then the reducer (contract §7).

A receiver outlives its connections: whoever reconnects goes on with it from the reducer's last seq,
and closes it only when nothing more will be known.

After a limit was exceeded nothing more is taken: every further call raises the same error, so
that nobody believes that it was. The reducer shows `unknown` from then on.
"""

from __future__ import annotations

from doneness.machine.json_text import parse
from doneness.machine.reducer import Progress
from doneness.machine.transport.limits import Gate, LimitExceededError, Limits
from doneness.machine.transport.placing import line_of, placed
from doneness.machine.transport.resequencer import Resequencer
from doneness.spec.vocabulary import Status


class Receiver:
    """Feeds one run's reducer from a connection that may repeat and overtake.

    Args:
        progress: The run's reducer, which has taken nothing yet.
        limits: What the run may be.
        resequencer: For other bounds than the usual ones; a new one of the same run.

    Raises:
        ValueError: the reducer has taken something already, or the resequencer is another run's.
    """

    __slots__ = ("_exceeded", "_gate", "_lines", "_progress", "_resequencer")

    def __init__(
        self,
        progress: Progress,
        *,
        limits: Limits | None = None,
        resequencer: Resequencer | None = None,
    ) -> None:
        self._progress = progress
        self._gate = Gate(limits or Limits())
        self._resequencer = resequencer or Resequencer(progress.run)
        if progress.last_seq != self._resequencer.last_seq:
            raise ValueError(
                f"progress: expected a new reducer, got one at seq {progress.last_seq}; "
                "keep the receiver when reconnecting, or feed a snapshot to a new one"
            )
        if progress.run != self._resequencer.run:
            raise ValueError(
                f"resequencer: expected one of the run {progress.run!r}, "
                f"got one of {self._resequencer.run!r}"
            )
        self._lines = 0
        self._exceeded: LimitExceededError | None = None

    @property
    def progress(self) -> Progress:
        """What is known from the gapless beginning of the run."""
        return self._progress

    @property
    def held(self) -> int:
        """How many envelopes wait for earlier ones."""
        return self._resequencer.held

    @property
    def status(self) -> Status:
        """What to show: the reducer's status; `unknown` if more waits although the run ended.

        Nothing that is ahead of an ended run's next number can agree with its end, whatever
        comes in between.
        """
        if self.held and self._progress.terminal is not None:
            return Status.UNKNOWN
        return self._progress.status

    def feed_line(self, line: bytes) -> None:
        """Take one envelope as a line of JSON, without or with its end.

        Raises:
            LimitExceededError: now or before; see `feed`.
        """
        self._lines += 1
        line = line.rstrip(b"\r\n")
        self._raise_if_exceeded()
        try:
            self._gate.judge_line(line, self._lines)
        except LimitExceededError as error:
            self._stop(error, self._resequencer.last_seq + 1)
            raise
        try:
            event = parse(line)
        except ValueError:
            event = line  # no JSON value, so no envelope: the reducer says so
        self.feed(event)

    def feed(self, event: object) -> None:
        """Take one envelope.

        Raises:
            LimitExceededError: a limit is exceeded; the reducer has been told, and whatever
                waited was handed on before. Nothing is taken any more.
        """
        self._raise_if_exceeded()
        place = placed(event, self._progress.run)
        if place is not None:
            try:
                self._gate.judge(place, len(line_of(event)))
            except LimitExceededError as error:
                self._stop(error, place.seq)
                raise
        self._hand_on(self._resequencer.take_placed(event, place))

    def close_transport(self) -> None:
        """The connection ended: what waits is handed on, then EOF."""
        self._hand_on(self._resequencer.end())
        self._progress.close_transport()

    def _stop(self, error: LimitExceededError, seq: int) -> None:
        self._exceeded = error
        self._hand_on(self._resequencer.end())
        self._hand_on([error.envelope(self._progress.run, seq)])

    def _raise_if_exceeded(self) -> None:
        if self._exceeded is not None:
            raise LimitExceededError(*self._exceeded.args)

    def _hand_on(self, events: list[object]) -> None:
        for event in events:
            self._progress.feed(event)
