"""What the declared loop says about a sequence of events: each legal, or refused and why.

It drives the real `transitions` machine that `spec.loop` declares. The facts that the guards name
are about the event and those before it, and are worked out here, by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doneness.spec.loop import (
    AGENT_LOOP,
    EVENTS,
    ITERATION_START,
    STOP,
    TOOL_RESULT,
    TOOL_START,
    UNKNOWN_TYPE,
)
from doneness.spec.table import Model, Row, machine_of

Event = Mapping[str, object]
Mark = tuple[str, int, frozenset[object], tuple[object, object] | None]


def trigger_of(event: Event) -> str:
    """What an event is to the declared machine."""
    kind = event.get("type")
    return str(kind) if kind in EVENTS else UNKNOWN_TYPE


class LoopOracle:
    """The declaration's view of one run of the loop.

    Args:
        rounds_max: The round limit of that run.
    """

    def __init__(self, rounds_max: int) -> None:
        self._model = Model(dict.fromkeys(AGENT_LOOP.facts, False))
        self._machine = machine_of(AGENT_LOOP, self._model)
        self._rounds_max = rounds_max
        self.reset()

    def reset(self) -> None:
        """Forget the run; a machine takes much longer to make than to reset."""
        self._machine.set_state(AGENT_LOOP.initial)
        self._model.happened.clear()
        self._rounds = 0
        self._calls: set[object] = set()
        self._running: tuple[object, object] | None = None

    @property
    def state(self) -> str:
        """The declared state."""
        return str(self._model.state)

    @property
    def is_over(self) -> bool:
        """Whether the run may rest here."""
        return AGENT_LOOP.state(self.state).final

    @property
    def rows(self) -> list[Row]:
        """The rows that were taken, in order."""
        return self._model.happened

    def take(self, event: Event) -> Row:
        """Take one event; the row says whether it is legal here (`refused` is None)."""
        kind = event.get("type")
        call = (event.get("call_id"), event.get("name"))
        self._model.facts.update(
            next_round=event.get("iteration") == self._rounds + 1,
            rounds_left=self._rounds < self._rounds_max,
            new_call=call[0] not in self._calls,
            same_call=call == self._running,
        )
        row = self._trigger(trigger_of(event))
        if row.refused is None:
            self._remember(kind, call)
        return row

    def mark(self) -> Mark:
        """Where the oracle stands, for `back_to`."""
        return self.state, self._rounds, frozenset(self._calls), self._running

    def back_to(self, mark: Mark) -> None:
        """Stand where `mark` was taken; which rows were taken since stays on record."""
        state, self._rounds, calls, self._running = mark
        self._calls = set(calls)
        self._machine.set_state(state)

    def stop(self) -> Row:
        """The consumer stops."""
        return self._trigger(STOP)

    def _trigger(self, trigger: str) -> Row:
        self._model.trigger(trigger)  # type: ignore[attr-defined]  # given by `transitions`
        return self._model.happened[-1]

    def _remember(self, kind: object, call: tuple[object, object]) -> None:
        if kind == ITERATION_START:
            self._rounds += 1
        elif kind == TOOL_START:
            self._calls.add(call[0])
            self._running = call
        elif kind == TOOL_RESULT:
            self._running = None


def objections(events: Iterable[Event], rounds_max: int, *, stopped: bool = False) -> list[str]:
    """What the declaration has against a whole run; empty if it is legal and ended.

    Args:
        events: The events of the run, in order.
        rounds_max: Its round limit.
        stopped: The consumer stopped after the last of them.
    """
    oracle = LoopOracle(rounds_max)
    found = []
    for number, event in enumerate(events, start=1):
        before = oracle.state
        row = oracle.take(event)
        if row.refused is not None:
            found.append(f"event {number}, {event.get('type')} in {before}: {row.why}")
    if stopped:
        oracle.stop()
    if not oracle.is_over:
        found.append(f"the run rests in {oracle.state}: neither done, nor error, nor stopped")
    return found
