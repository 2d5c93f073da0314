"""The oracle: what the declared tables say about a run, move by move.

It interprets `spec`'s tables and knows no rule of its own. A move says what it is: whoever made
the event knows whether it repeats one, skips a number or names another run, so what is expected
is never worked out by a second reading of the event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from doneness.spec.admission import STEPS, Step
from doneness.spec.lifecycle import EOF, LIFECYCLE
from doneness.spec.table import Row, first_that_holds
from doneness.spec.toolcall import TOOL_CALL, UNREQUESTED
from doneness.spec.vocabulary import Issue, Outcome, Status

END_OF_TRANSPORT: Final = None
"""Stands for the end of the connection where an event could stand."""

OBSERVABLES: Final = (
    "status",
    "issues",
    "text",
    "tools",
    "model_responses",
    "foreign",
    "duplicates",
    "waiting",
    "cancel_requested",
    "terminal",
    "final_text",
    "verdict",
    "closed",
    "last_seq",
    "unresolved",
    "recovered",
)
"""All that a subject can be asked for, the required one first."""

# The tables by pair, extracted once: looking a row up in a dictionary is a hundred times as fast as
# asking the `transitions` machine; `generators.checks.declaration` tests that both answer alike.
ROWS: Final = {
    (state.name, trigger): LIFECYCLE.rows_for(state.name, trigger)
    for state in LIFECYCLE.states
    for trigger in LIFECYCLE.triggers
}
CALL_ROWS: Final = {
    (state.name, trigger): TOOL_CALL.rows_for(state.name, trigger)
    for state in TOOL_CALL.states
    for trigger in TOOL_CALL.triggers
}
SHOWS: Final = {state.name: state.shows for state in LIFECYCLE.states}
STEPS_BY_CATCH: Final = {step.catches: step for step in STEPS}
_SETTLED: Final = frozenset(state.name for state in TOOL_CALL.states if state.group == "ended")

NOT_NEXT: Final = "not_the_next_seq"


@dataclass(frozen=True, slots=True)
class Move:
    """One event, or the end of the connection, with what its maker knows of it.

    Attributes:
        name: What it is, for people.
        event: The envelope, or whatever else a host could pass; None for the end.
        caught: The step of admission that stops it; None if it is admitted.
        trigger: What it means to the lifecycle, if it is admitted.
        seq: Its number, if it is admitted.
        in_order: Whether that is the next number.
        args: What the effects need: text, call_id, response_id, outcome, final_text, ok.
        facts: Facts about the event itself: final_text, digest_matches.
        json: Whether it can be written as JSON at all.
    """

    name: str
    event: object
    caught: str | None = None
    trigger: str | None = None
    seq: int = 0
    in_order: bool = True
    args: Mapping[str, object] = field(default_factory=dict)
    facts: frozenset[str] = frozenset()
    json: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """Why the oracle expects what it expects: the step or the row that decided."""

    state: str
    trigger: str | None
    step: Step | None = None
    row: Row | None = None


class Oracle:
    """The declaration's view of one run."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.state = LIFECYCLE.initial
        self.issues: list[Issue] = []
        self.pieces: list[str] = []
        self.tools: dict[str, str] = {}
        self.model_responses: list[str] = []
        self.foreign = 0
        self.duplicates = 0
        self.waiting = False
        self.cancel_requested = False
        self.terminal: Outcome | None = None
        self.final_text: str | None = None
        self.verdict: bool | None = None
        self.closed = False
        self.last_seq = 0
        self.unresolved = False
        self.recovered = False
        self.remembered: dict[str, object] = {}  # the events whose ids are on record

    @property
    def text(self) -> str:
        """All accepted text."""
        return "".join(self.pieces)

    @property
    def status(self) -> Status:
        """The status of the state, unless the evidence is contradicted."""
        shows = SHOWS[self.state]
        return Status.UNKNOWN if self.issues or shows is None else shows

    def observables(self) -> dict[str, object]:
        """What a subject must show now; a fresh copy."""
        seen = {name: getattr(self, name) for name in OBSERVABLES}
        for name in ("issues", "tools", "model_responses"):
            seen[name] = seen[name].copy()
        return seen

    def take(self, move: Move) -> Decision:
        """Take one move, and say what decided it."""
        if move.trigger == EOF:
            return self._decide(move, EOF)
        if move.caught is not None:
            step = STEPS_BY_CATCH[move.caught]
            self._leave(step)
            return Decision(self.state, move.trigger, step=step)
        if isinstance(move.event, dict):
            self.remembered[move.event["id"]] = move.event
        if not move.in_order:
            self._leave(STEPS_BY_CATCH[NOT_NEXT])
        self.last_seq = max(self.last_seq, move.seq)
        if move.trigger is None:
            raise ValueError(f"{move.name}: an admitted move needs a trigger")
        return self._decide(move, move.trigger)

    def fork(self) -> Oracle:
        """An independent copy."""
        other = object.__new__(Oracle)
        other.__dict__.update(self.__dict__)
        for name in ("issues", "pieces", "tools", "model_responses", "remembered"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def _leave(self, step: Step) -> None:
        if step.counts is not None:
            setattr(self, step.counts, getattr(self, step.counts) + 1)
        if step.issue is not None:
            self._record(step.issue)

    def _record(self, issue: Issue) -> None:
        if issue not in self.issues:
            self.issues.append(issue)

    def _decide(self, move: Move, trigger: str) -> Decision:
        state = self.state
        row = first_that_holds(ROWS[state, trigger], lambda fact: self.holds(fact, move))
        if row.refused is not None:
            self._record(row.refused)
        else:
            for effect in row.effects:
                _EFFECTS[effect](self, move)
            self.state = row.target or state
        return Decision(state, trigger, row=row)

    def holds(self, fact: str, move: Move) -> bool:
        """Whether a fact that guards name holds, for a move that is about to be taken."""
        if fact == "call_moves":
            return self._next_call_state(move) is not None
        if fact == "calls_settled":
            return _SETTLED.issuperset(self.tools.values())
        if fact in ("final_text", "digest_matches"):
            return fact in move.facts
        return bool(getattr(self, fact))

    def _next_call_state(self, move: Move) -> str | None:
        state = self.tools.get(str(move.args["call_id"]), UNREQUESTED)
        row = first_that_holds(CALL_ROWS[state, str(move.trigger)], lambda _fact: False)
        return None if row.refused else row.target

    # The effects that the tables name.

    def _append_text(self, move: Move) -> None:
        self.pieces.append(str(move.args["text"]))

    def _record_response(self, move: Move) -> None:
        self.model_responses.append(str(move.args["response_id"]))

    def _mark_unresolved(self, _move: Move) -> None:
        self.unresolved, self.recovered = True, False

    def _recover(self, _move: Move) -> None:
        self.recovered = True

    def _move_call(self, move: Move) -> None:
        self.tools[str(move.args["call_id"])] = str(self._next_call_state(move))

    def _wait(self, _move: Move) -> None:
        self.waiting = True

    def _request_cancel(self, _move: Move) -> None:
        self.cancel_requested = True

    def _conclude(self, move: Move) -> None:
        final_text = move.args["final_text"]
        self.terminal = Outcome(str(move.args["outcome"]))
        self.final_text = None if final_text is None else str(final_text)
        self.waiting = self.terminal is Outcome.PAUSED

    def _judge(self, move: Move) -> None:
        self.verdict = bool(move.args["ok"])

    def _close(self, _move: Move) -> None:
        self.closed = True


_EFFECTS: Final[Mapping[str, Callable[[Oracle, Move], None]]] = {
    name: getattr(Oracle, f"_{name}") for name in LIFECYCLE.effects
}
