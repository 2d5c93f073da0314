"""The producer: numbers one run's envelopes and turns the owner's knowledge into an end.

It is bound to a run by the trusted host and keeps the run's complete local log 1, 2, 3…; the
id of an envelope follows from run and seq, so that sending it again sends the same id.
It does not judge what it is told to emit: a contradiction must reach the reducer to be seen.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import TypedDict

from doneness.spec.vocabulary import Kind, Outcome


class Envelope(TypedDict):
    """What a producer emits (contract §2)."""

    run: str
    id: str
    seq: int
    kind: str
    data: dict[str, object]


class Producer:
    """Emits the envelopes of one run (contract §4).

    Args:
        run: The id of the run, a non-empty string.
    """

    __slots__ = ("_last_seq", "_run")

    def __init__(self, run: str) -> None:
        if not isinstance(run, str):
            raise TypeError(f"run: expected a str, got {type(run).__name__}")
        if not run:
            raise ValueError("run: expected the id of a run, got an empty string")
        self._run = run
        self._last_seq = 0

    @property
    def run(self) -> str:
        """The run that this producer is bound to."""
        return self._run

    @property
    def last_seq(self) -> int:
        """How many envelopes were emitted."""
        return self._last_seq

    def emit(self, kind: str, /, **data: object) -> Envelope:
        """The next envelope of the run, with `data` as its payload.

        A kind outside the contract is passed on and blocks success at the reducer.
        """
        if not isinstance(kind, str):
            raise TypeError(f"kind: expected a str, got {type(kind).__name__}")
        if not kind:
            raise ValueError("kind: expected the kind of an event, got an empty string")
        self._last_seq = seq = self._last_seq + 1
        return {
            "run": self._run,
            "id": f"{self._run}:{seq}",
            "seq": seq,
            "kind": str(kind),
            "data": data,
        }

    def owner_finished(
        self,
        *,
        exhausted: bool,
        is_complete: bool,
        interruptions: bool | Sized,
        cancel_requested: bool,
        runtime_failed: bool,
        final_text: str | None,
    ) -> Envelope | None:
        """The owner's conclusion after the iterator ended; None while there is none.

        The questions are asked in the contract's order (§4), and the first that is answered
        decides. Leaving the loop early, or a broken socket, is not exhaustion.

        Args:
            exhausted: The iterator ran to its own end.
            is_complete: The SDK says that the run is complete.
            interruptions: Open approvals (any non-empty collection), or whether there are any.
            cancel_requested: A cancel request is on record.
            runtime_failed: The iterator, or the run loop after draining, raised.
            final_text: The final text, if there is one; an empty text is one.
        """
        if runtime_failed:
            return self._ended(Outcome.FAILED)
        if not (exhausted and is_complete):
            return None
        if cancel_requested:
            return self._ended(Outcome.CANCELLED)
        if interruptions:
            return self._ended(Outcome.PAUSED)
        if final_text is not None:
            return self._ended(Outcome.SUCCEEDED, final_text)
        return None

    def _ended(self, outcome: Outcome, final_text: str | None = None) -> Envelope:
        return self.emit(Kind.RUN_ENDED, outcome=str(outcome), final_text=final_text)
