"""From the events of AG-UI 1.0 and 1.1 to envelopes.

An AG-UI stream is sent by whoever runs the agent. Its `RUN_FINISHED` and `RUN_ERROR` are the
owner's own statements about the run, so they end it: this is what sets it apart from the streams
of models. Success still needs more than the word: no call without a result, nothing left open,
the run that was begun and no other. What the protocol lets pass as success in silence (an outcome
that nobody knows, calls left for the client) is no success here.

A late `RUN_ERROR` after `RUN_FINISHED` is legal there. The contract replaces no terminal, so it
is evidence against the success: the status becomes *unknown*, for good.

A breach of the protocol makes the rest of the stream untrustworthy, as AG-UI says itself; then no
further run begins in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from msgspec import UnsetType

from doneness.machine.adapters.ag_ui_brackets import Brackets, Item, Owner
from doneness.machine.adapters.ag_ui_shapes import (
    ActivityDelta,
    ActivitySnapshot,
    AssistantMessage,
    Call,
    CallArgs,
    CallChunk,
    CallResult,
    CallStart,
    Custom,
    Encrypted,
    Message,
    MessagesSnapshot,
    Owned,
    Piece,
    Raw,
    ReasoningChunk,
    ReasoningMessageStart,
    RunError,
    RunFinished,
    RunOutcome,
    RunStarted,
    StateDelta,
    StateSnapshot,
    Step,
    Subagent,
    SubagentError,
    SubagentFinished,
    SubagentStarted,
    TextChunk,
    TextStart,
    ThinkingPiece,
    ThinkingStart,
    ToolMessage,
    UserMessage,
)
from doneness.machine.adapters.base import (
    Blocking,
    Contradiction,
    Row,
    Treatment,
    Unsupported,
    WireAdapter,
)
from doneness.machine.producer import Envelope
from doneness.spec.vocabulary import Kind, Outcome

_MAPPED: Final = Treatment.MAPPED
_OBSERVED: Final = Treatment.OBSERVED
_REASONING: Final = "reasoning is no output text; what is opened must be closed"
_RETIRED: Final = "reasoning of a retired form"
_STATE: Final = "the application's own data"

TABLE: Final[Mapping[str, Row]] = {
    "RUN_STARTED": Row(_MAPPED, RunStarted, "none; after an end, another run begins"),
    "RUN_FINISHED": Row(_MAPPED, RunFinished, "`run.ended`, by its outcome"),
    "RUN_ERROR": Row(
        _MAPPED, RunError, "`run.ended`: failed; after `RUN_FINISHED`, a contradiction"
    ),
    "STEP_STARTED": Row(_OBSERVED, Step, "a label; what is opened must be closed"),
    "STEP_FINISHED": Row(_OBSERVED, Step, "a label; closes what was opened, and nothing else"),
    "TEXT_MESSAGE_START": Row(_MAPPED, TextStart, "none; what is opened must be closed"),
    "TEXT_MESSAGE_CONTENT": Row(_MAPPED, Piece, "`text.delta`, of an assistant's message"),
    "TEXT_MESSAGE_END": Row(_MAPPED, Message, "none; closes one message, not the run"),
    "TEXT_MESSAGE_CHUNK": Row(_MAPPED, TextChunk, "`text.delta`, of an assistant's message"),
    "TOOL_CALL_START": Row(_MAPPED, CallStart, "`tool.requested`"),
    "TOOL_CALL_ARGS": Row(_MAPPED, CallArgs, "none: a fragment of the arguments"),
    "TOOL_CALL_END": Row(_MAPPED, Call, "none: the arguments ended, not the tool"),
    "TOOL_CALL_CHUNK": Row(_MAPPED, CallChunk, "`tool.requested` where it opens a call"),
    "TOOL_CALL_RESULT": Row(_MAPPED, CallResult, "`tool.finished`"),
    "MESSAGES_SNAPSHOT": Row(
        _MAPPED,
        MessagesSnapshot,
        "`tool.finished` or `tool.failed` of open calls that it answers; it corrects the final "
        "text, never the text that was shown",
    ),
    "STATE_SNAPSHOT": Row(_OBSERVED, StateSnapshot, _STATE),
    "STATE_DELTA": Row(_OBSERVED, StateDelta, _STATE),
    "ACTIVITY_SNAPSHOT": Row(_OBSERVED, ActivitySnapshot, "progress, no fact about the run"),
    "ACTIVITY_DELTA": Row(_OBSERVED, ActivityDelta, "progress, no fact about the run"),
    "RAW": Row(_OBSERVED, Raw, "the provider's own event, beside the protocol's"),
    "CUSTOM": Row(_OBSERVED, Custom, "the application's own event, outside the protocol"),
    "REASONING_START": Row(_OBSERVED, Message, _REASONING),
    "REASONING_MESSAGE_START": Row(_OBSERVED, ReasoningMessageStart, _REASONING),
    "REASONING_MESSAGE_CONTENT": Row(_OBSERVED, Piece, _REASONING),
    "REASONING_MESSAGE_END": Row(_OBSERVED, Message, _REASONING),
    "REASONING_MESSAGE_CHUNK": Row(_OBSERVED, ReasoningChunk, _REASONING),
    "REASONING_END": Row(_OBSERVED, Message, _REASONING),
    "REASONING_ENCRYPTED_VALUE": Row(_OBSERVED, Encrypted, "opaque"),
    "SUBAGENT_STARTED": Row(_OBSERVED, SubagentStarted, "must end before the run does"),
    "SUBAGENT_FINISHED": Row(
        _OBSERVED, SubagentFinished, "one part of a run; suspended, it makes a success a wait"
    ),
    "SUBAGENT_ERROR": Row(_OBSERVED, SubagentError, "one part of a run: the agent may recover"),
    "THINKING_START": Row(_OBSERVED, ThinkingStart, _RETIRED),
    "THINKING_END": Row(_OBSERVED, Owned, _RETIRED),
    "THINKING_TEXT_MESSAGE_START": Row(_OBSERVED, Owned, _RETIRED),
    "THINKING_TEXT_MESSAGE_CONTENT": Row(_OBSERVED, ThinkingPiece, _RETIRED),
    "THINKING_TEXT_MESSAGE_END": Row(_OBSERVED, Owned, _RETIRED),
}
"""How each event type of the enumeration `EventType`, and each retired one, is treated."""

OUTCOMES: Final[Mapping[str, str]] = {
    "absent": "as `success`",
    "success": "succeeded; paused if it names pending calls, or if a call of the run has no "
    "result, or if a subagent is suspended",
    "interrupt": "paused",
    "cancelled": "cancelled",
}
"""What each outcome of `RUN_FINISHED` becomes; another one blocks success."""

# Lanes of chunks, by what arrives: these stand aside, these concern every lane; any other event
# closes the lane of its owner.
_ASIDE: Final = frozenset(
    {
        "RAW",
        "ACTIVITY_SNAPSHOT",
        "ACTIVITY_DELTA",
        "REASONING_ENCRYPTED_VALUE",
        "SUBAGENT_STARTED",
        "TEXT_MESSAGE_CHUNK",
        "TOOL_CALL_CHUNK",
        "REASONING_MESSAGE_CHUNK",
    }
)
_OF_THE_RUN: Final = frozenset({"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"})

_AFTER: Final = {Outcome.SUCCEEDED: "follow", Outcome.PAUSED: "resume"}


class _Run:
    """What is known about the current run of the stream."""

    __slots__ = (
        "answered",
        "answers",
        "attributed",
        "brackets",
        "calls",
        "ended",
        "ended_subagents",
        "id",
        "roles",
        "suspended",
    )

    def __init__(self, id_: str | None) -> None:
        self.id = id_  # None before RUN_STARTED
        self.ended: Outcome | None = None
        self.brackets = Brackets()
        self.roles: dict[str, str] = {}  # of text messages, by id
        self.answers: dict[str, tuple[Owner, list[str]]] = {}  # the assistant's, by id
        self.calls: dict[str, str] = {}  # names, by id
        self.answered: set[str] = set()
        self.attributed: set[str] = set()  # subagents that something was attributed to
        self.ended_subagents: set[str] = set()
        self.suspended = False

    def final_text(self) -> str:
        """The last message of the agent itself; of a subagent, if there is no other."""
        own = [pieces for owner, pieces in self.answers.values() if owner is None]
        every = own or [pieces for _, pieces in self.answers.values()]
        return "".join(every[-1]) if every else ""


class AGUIAdapter(WireAdapter):
    """One stream of AG-UI events, of one thread, with one run or several behind each other.

    Args:
        run: See the base.
        thread_id: The thread that the host asked about; without it, that of the first run.
    """

    format: ClassVar[str] = "ag-ui"
    table: ClassVar[Mapping[str, Row]] = TABLE
    owner_note: ClassVar[str] = (
        "`RUN_FINISHED` and `RUN_ERROR` are the owner's statements; a stream that stops without "
        "one of them was cut"
    )

    def __init__(self, run: str, *, thread_id: str | None = None) -> None:
        super().__init__(run)
        self._thread_id = thread_id
        self._run = _Run(None)
        self._breached = False
        self._left_open: dict[str, str] = {}  # calls of earlier runs without a result

    def _blocked(self, kind: Blocking, type_: str, reason: str) -> list[Envelope]:
        if kind is not Blocking.UNSUPPORTED:
            self._breached = True
        return super()._blocked(kind, type_, reason)

    def _take(self, type_: str, event: Any) -> Iterator[Envelope]:
        match event:
            case RunStarted():
                self._start(event)
                return
            case RunError():
                yield self._fail()
                return
        run = self._run
        if run.ended is not None:
            raise Contradiction("the run has ended")
        if run.id is None:
            raise Contradiction("no run was started")
        self._leave_lanes(type_, event)
        match event:
            case RunFinished():
                yield self._finish(event)
            case Subagent():
                self._subagent(event)
            case MessagesSnapshot():
                yield from self._reconcile(event.messages)
            case _ if type_.startswith("TEXT_MESSAGE"):
                yield from self._text(type_, event)
            case _ if type_.startswith("TOOL_CALL"):
                yield from self._call(event)
            case Step():
                if type_ == "STEP_STARTED":
                    run.brackets.open(Item.STEP, event.step_name, event.subagent_run_id)
                else:
                    run.brackets.close(Item.STEP, event.step_name, event.subagent_run_id)
            case _:
                self._reasoning(type_, event)

    # The run.

    def _start(self, event: RunStarted) -> None:
        run = self._run
        if self._breached:
            raise Contradiction("the stream was in breach of the protocol before")
        if run.id is not None and run.ended is None:
            raise Contradiction(f"run {run.id} has not ended")
        if self._thread_id not in (None, event.thread_id):
            raise Contradiction("the run is of another thread")
        self._thread_id = event.thread_id
        if run.ended is not None:
            self._left_open |= {
                call: name for call, name in run.calls.items() if call not in run.answered
            }
            self._begin_run(_AFTER.get(run.ended, "retry"))
        self._run = _Run(event.run_id)

    def _fail(self) -> Envelope:
        run = self._run
        if run.ended not in (None, Outcome.SUCCEEDED, Outcome.PAUSED, Outcome.CANCELLED):
            raise Contradiction("the run has failed already")
        run.ended = Outcome.FAILED
        return self._producer.emit(Kind.RUN_ENDED, outcome=str(Outcome.FAILED), final_text=None)

    def _finish(self, event: RunFinished) -> Envelope:
        run = self._run
        if event.run_id != run.id:
            raise Contradiction("this finishes another run")
        if event.thread_id != self._thread_id:
            raise Contradiction("this finishes a run of another thread")
        still_open = run.brackets.first_open()
        if still_open is not None:
            raise Contradiction(f"{still_open} is open")
        run.ended = self._outcome(event.outcome)
        final_text = run.final_text() if run.ended is Outcome.SUCCEEDED else None
        return self._producer.emit(Kind.RUN_ENDED, outcome=str(run.ended), final_text=final_text)

    def _outcome(self, outcome: RunOutcome | UnsetType) -> Outcome:
        run = self._run
        if isinstance(outcome, UnsetType):
            outcome = RunOutcome("success")
        interrupts = [] if isinstance(outcome.interrupts, UnsetType) else outcome.interrupts
        pending = outcome.pending_tool_call_ids
        named = [] if isinstance(pending, UnsetType) else pending
        if outcome.type == "interrupt":
            if not interrupts or len({interrupt.id for interrupt in interrupts}) < len(interrupts):
                raise Contradiction("an interrupt without interrupts, or with two of one id")
            return Outcome.PAUSED
        if interrupts:
            raise Contradiction(f"outcome {outcome.type}, and it names interrupts")
        if outcome.type == "cancelled":
            return Outcome.CANCELLED
        if outcome.type != "success":
            raise Unsupported(f"outcome {outcome.type}")
        if named or run.suspended or run.calls.keys() - run.answered:
            return Outcome.PAUSED
        return Outcome.SUCCEEDED

    # Chunks end where something else arrives.

    def _leave_lanes(self, type_: str, event: Any) -> None:
        brackets = self._run.brackets
        owner = getattr(event, "subagent_run_id", None)
        if type_ in _OF_THE_RUN:
            brackets.close_lanes()
        elif type_ not in _ASIDE:
            brackets.close_lane(owner)
        if owner is not None and not isinstance(event, Subagent):
            self._run.attributed.add(owner)

    # Text.

    def _text(self, type_: str, event: Any) -> Iterator[Envelope]:
        run, owner, delta = self._run, event.subagent_run_id, ""
        match event:
            case TextChunk():
                said = None if isinstance(event.role, UnsetType) else event.role
                id_, opens = run.brackets.chunk(
                    Item.TEXT, event.message_id, owner, said, default="assistant", name=event.name
                )
                if opens:
                    self._opened(id_, said or "assistant", owner)
                delta = event.delta
            case TextStart(message_id=id_):
                role = "assistant" if isinstance(event.role, UnsetType) else event.role
                run.brackets.open(Item.TEXT, id_, owner, role)
                self._opened(id_, role, owner)
            case Piece(message_id=id_):
                run.brackets.goes_on(Item.TEXT, id_, owner)
                delta = event.delta
            case _:
                run.brackets.close(Item.TEXT, event.message_id, owner)
                return
        if run.roles[id_] == "assistant" and (delta or type_ == "TEXT_MESSAGE_CONTENT"):
            run.answers[id_][1].append(delta)
            yield self._producer.emit(Kind.TEXT_DELTA, text=delta)

    def _opened(self, id_: str, role: str, owner: Owner) -> None:
        run = self._run
        if run.roles.setdefault(id_, role) != role:
            raise Contradiction(f"message {id_} was opened as {run.roles[id_]}")
        if role == "assistant":
            run.answers.setdefault(id_, (owner, []))

    # Tool calls.

    def _call(self, event: Any) -> Iterator[Envelope]:
        brackets, owner = self._run.brackets, event.subagent_run_id
        match event:
            case CallChunk():
                id_, opens = brackets.chunk(
                    Item.CALL,
                    event.tool_call_id,
                    owner,
                    event.tool_call_name,
                    default=None,
                    parent=event.parent_message_id,
                )
                self._check_parent(event)
                if opens:
                    yield from self._requested(id_, event.tool_call_name or "")
            case CallStart(tool_call_id=id_):
                self._check_parent(event)
                brackets.open(Item.CALL, id_, owner, event.tool_call_name)
                yield from self._requested(id_, event.tool_call_name)
            case CallArgs():
                brackets.goes_on(Item.CALL, event.tool_call_id, owner)
            case CallResult():
                yield from self._result(event.tool_call_id, Kind.TOOL_FINISHED)
            case _:
                brackets.close(Item.CALL, event.tool_call_id, owner)

    def _check_parent(self, event: CallStart | CallChunk) -> None:
        """A call belongs to whom the message belongs that carries it."""
        owner = event.subagent_run_id
        parent = self._run.answers.get(event.parent_message_id or "")
        if owner is not None and parent is not None and parent[0] != owner:
            raise Contradiction(f"the message of this call belongs to another than {owner}")

    def _requested(self, id_: str, name: str) -> Iterator[Envelope]:
        calls = self._run.calls
        if id_ in calls:  # a closed call may be opened again; it is the same call
            if calls[id_] != name:
                raise Contradiction(f"tool call {id_} was opened as {calls[id_]}")
            return
        calls[id_] = name
        yield self._producer.emit(Kind.TOOL_REQUESTED, call_id=id_)

    def _result(self, id_: str, kind: Kind) -> Iterator[Envelope]:
        run = self._run
        if run.brackets.is_open(Item.CALL, id_):
            raise Contradiction(f"a result, and the arguments of tool call {id_} have not ended")
        if id_ not in run.calls and id_ in self._left_open:
            # A paused run left the call; this run has its result.
            yield from self._requested(id_, self._left_open.pop(id_))
        run.answered.add(id_)
        yield self._producer.emit(kind, call_id=id_)

    # Snapshots.

    def _reconcile(self, messages: list[Any]) -> Iterator[Envelope]:
        run = self._run
        last_user = max(
            (place for place, said in enumerate(messages) if type(said) is UserMessage), default=-1
        )
        kept: dict[str, tuple[Owner, list[str]]] = {}
        for place, said in enumerate(messages):
            if type(said) is AssistantMessage and (said.id in run.answers or place > last_user):
                owner, pieces = run.answers.get(said.id, (None, []))
                streams = run.brackets.is_open(Item.TEXT, said.id)
                kept[said.id] = owner, pieces if streams else [said.text()]
        for id_, answer in run.answers.items():
            if run.brackets.is_open(Item.TEXT, id_):
                kept.setdefault(id_, answer)
        run.answers = kept
        for said in messages:
            call = said.tool_call_id if type(said) is ToolMessage else None
            if call in run.calls and call not in run.answered:
                kind = Kind.TOOL_FINISHED if said.error is None else Kind.TOOL_FAILED
                yield from self._result(call, kind)

    # What is observed only, and still must be in order.

    def _reasoning(self, type_: str, event: Any) -> None:
        brackets, owner = self._run.brackets, getattr(event, "subagent_run_id", None)
        match type_:
            case "REASONING_START":
                brackets.open(Item.SPAN, event.message_id, owner)
            case "REASONING_END":
                brackets.close(Item.SPAN, event.message_id, owner)
            case "REASONING_MESSAGE_START":
                brackets.open(Item.REASONING, event.message_id, owner)
            case "REASONING_MESSAGE_CONTENT":
                brackets.goes_on(Item.REASONING, event.message_id, owner)
            case "REASONING_MESSAGE_END":
                brackets.close(Item.REASONING, event.message_id, owner)
            case "REASONING_MESSAGE_CHUNK":
                brackets.chunk(Item.REASONING, event.message_id, owner, None, default="reasoning")

    def _subagent(self, event: Subagent) -> None:
        run, id_ = self._run, event.subagent_run_id
        if isinstance(event, SubagentStarted):
            if id_ in run.ended_subagents or id_ in run.attributed:
                raise Contradiction(f"subagent {id_} was there before it was announced")
            parent = event.parent_subagent_run_id
            known = parent in run.ended_subagents or (
                parent is not None and run.brackets.is_open(Item.SUBAGENT, parent)
            )
            if parent is not None and not known:
                raise Contradiction(f"subagent {id_} names a parent that was not announced")
            run.brackets.open(Item.SUBAGENT, id_, None)
            return
        run.brackets.close(Item.SUBAGENT, id_, None)
        run.ended_subagents.add(id_)
        if isinstance(event, SubagentFinished) and not isinstance(event.outcome, UnsetType):
            if event.outcome.type not in ("success", "suspended"):
                raise Unsupported(f"outcome {event.outcome.type} of a subagent")
            run.suspended |= event.outcome.type == "suspended"
