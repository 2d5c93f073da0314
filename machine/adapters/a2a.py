"""From an A2A task stream to envelopes.

The server runs the task, so the states that it reports are the owner's statements: completed,
failed, canceled and rejected end the task, input-required and auth-required pause it. A task that
goes on after a pause is another run of the same task here, as the contract has it; so a stream
may hold several runs. What is reported after an end contradicts it (servers were seen to send
*submitted* after *completed*).

Status messages may be lost over a reconnect, and a resubscription begins with a snapshot of the
task. The snapshot is authoritative: it is compared with what came before, text that is there
already does not come twice, and the same end again is sent again as the very same envelope.

A reply that is a message and no task has no state; it proves no end. The error of a request says
that the request failed; how the task goes on is not known from it.

Source: the Protocol Buffers of A2A 1.0 in the package a2a-sdk 1.3, in their JSON form, and the
JSON shapes of A2A 0.3 in its module `a2a.compat.v0_3`. Both come bare or as a JSON-RPC response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from doneness.machine.adapters.base import Contradiction, Row, Treatment, Unsupported, WireAdapter
from doneness.machine.producer import Envelope, Producer
from doneness.spec.vocabulary import Kind, Outcome


class _Shape(msgspec.Struct, rename="camel"):
    pass


class Part(_Shape):
    """A part of a message or an artifact; text, or something that is not read."""

    text: str | None = None


class Message(_Shape):
    """A message."""

    message_id: str
    role: str
    parts: list[Part]
    task_id: str | None = None
    context_id: str | None = None


class Status(_Shape):
    """The status of a task."""

    state: str
    message: Message | None = None


class Artifact(_Shape):
    """A result of a task, or a piece of one."""

    artifact_id: str
    parts: list[Part]


class Task(_Shape):
    """A snapshot of a task."""

    id: str
    status: Status
    context_id: str | None = None
    artifacts: list[Artifact] | None = None


class StatusUpdate(_Shape):
    """The status of a task changed."""

    task_id: str
    status: Status
    context_id: str | None = None


class ArtifactUpdate(_Shape):
    """A piece of a result."""

    task_id: str
    artifact: Artifact
    context_id: str | None = None
    append: bool | None = None


class RequestError(_Shape):
    """The error of a JSON-RPC request."""

    code: int
    message: str


TABLE: Final[Mapping[str, Row]] = {
    "task": Row(Treatment.MAPPED, Task, "a snapshot: `text.delta` for what is new, and its state"),
    "status-update": Row(Treatment.MAPPED, StatusUpdate, "by the state, see below"),
    "artifact-update": Row(Treatment.MAPPED, ArtifactUpdate, "`text.delta` for its text parts"),
    "message": Row(Treatment.MAPPED, Message, "`text.delta`; no state, so no end"),
    "error": Row(Treatment.OBSERVED, RequestError, "the request failed; says nothing of the task"),
}
"""How each kind of event is treated, by its name in A2A 0.3."""

_MEMBERS: Final = {
    "task": "task",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
    "message": "message",
}
"""The member that holds an event in A2A 1.0, and the kind that names it in 0.3."""

STATES: Final[Mapping[str, Outcome | None]] = {
    "submitted": None,
    "working": None,
    "unspecified": None,
    "completed": Outcome.SUCCEEDED,
    "failed": Outcome.FAILED,
    "rejected": Outcome.FAILED,
    "canceled": Outcome.CANCELLED,
    "input-required": Outcome.PAUSED,
    "auth-required": Outcome.PAUSED,
}
"""How each state ends a run; None: it goes on. Another state blocks success.

The names are those of 0.3; `unspecified` is there `unknown`, and 1.0 writes `TASK_STATE_WORKING`.
"""


class A2AAdapter(WireAdapter):
    """The stream of one task, resubscriptions included.

    Args:
        run: See the base.
        task_id: The task that the host asked about; without it, that of the first event.
    """

    format: ClassVar[str] = "a2a"
    table: ClassVar[Mapping[str, Row]] = TABLE
    owner_note: ClassVar[str] = (
        "the states completed, failed, canceled and rejected are the owner's statements; "
        "a stream that stops without one of them was cut, and a snapshot of the task can settle it"
    )

    def __init__(self, run: str, *, task_id: str | None = None) -> None:
        super().__init__(run)
        self._task_id = task_id
        self._context_id: str | None = None
        self._state = "submitted"
        self._end: Envelope | None = None  # of the current run
        self._artifacts: dict[str, list[str]] = {}  # pieces of text by id, in order
        self._headless: set[str] = set()  # artifacts whose beginning was not seen
        self._messages: dict[str, str] = {}  # the agent's texts by id, in order
        self._foreign: dict[str, Producer] = {}

    def _type_of(self, value: object, _event: str) -> str:
        return _unwrapped(value)[0]

    def feed_value(self, value: object, event: str = "message") -> list[Envelope]:
        """See the base; what JSON-RPC or A2A 1.0 wraps around an event is taken off."""
        try:
            type_, inner = _unwrapped(value)
        except Exception:  # noqa: BLE001 # the base says what is wrong with it
            return super().feed_value(value, event)
        return super().feed_value({"kind": type_} | inner, event)

    def _take(self, type_: str, event: Any) -> Iterator[Envelope]:
        if isinstance(event, RequestError):
            return
        task_id = event.id if isinstance(event, Task) else event.task_id
        if self._task_id is None:
            self._task_id = task_id
        elif task_id not in (None, self._task_id):
            yield self._of_another(task_id, type_)
            return
        if self._context_id is not None and event.context_id not in (None, self._context_id):
            raise Contradiction(f"the task is of context {self._context_id}")
        self._context_id = self._context_id or event.context_id
        if self._end is not None:
            if isinstance(event, Task) and self._repeats(event):
                yield self._end
                return
            if self._end["data"]["outcome"] != Outcome.PAUSED:
                raise Contradiction(f"the task is {self._state} already")
            self._begin_run("resume")
            self._end = None
        match event:
            case Task():
                yield from self._snapshot(event)
            case StatusUpdate():
                yield from self._enter(event.status)
            case ArtifactUpdate():
                yield from self._piece(event)
            case _:
                yield from self._said(event)

    def _of_another(self, task_id: str, type_: str) -> Envelope:
        """An event of another task: the reducer counts it as foreign and touches nothing."""
        producer = self._foreign.setdefault(task_id, Producer(f"{self._first_run}: {task_id}"))
        return producer.emit("adapter.foreign_event", format=self.format, type=type_)

    # States.

    def _enter(self, status: Status) -> Iterator[Envelope]:
        state = _state_of(status)
        if status.message is not None:
            yield from self._said(status.message)
        outcome = STATES[state]
        self._state = state
        if outcome is None:
            return
        final_text = None
        if outcome is Outcome.SUCCEEDED:
            if self._headless:
                raise Contradiction("completed, and the beginning of an artifact was never sent")
            final_text = self._final_text(status)
        self._end = self._producer.emit(Kind.RUN_ENDED, outcome=str(outcome), final_text=final_text)
        yield self._end

    def _final_text(self, status: Status) -> str:
        """All text of the artifacts; without artifacts, that of the last status message."""
        if self._artifacts or status.message is None:
            return "".join(piece for pieces in self._artifacts.values() for piece in pieces)
        return _text_of(status.message.parts)

    def _repeats(self, task: Task) -> bool:
        """Whether a snapshot says what was said when the run ended, and nothing else."""
        known = {artifact.artifact_id: _text_of(artifact.parts) for artifact in _artifacts(task)}
        same = not known or known == {
            id_: "".join(pieces) for id_, pieces in self._artifacts.items()
        }
        return _state_of(task.status) == self._state and same

    # Text.

    def _snapshot(self, task: Task) -> Iterator[Envelope]:
        for artifact in _artifacts(task):
            id_, text = artifact.artifact_id, _text_of(artifact.parts)
            before = "".join(self._artifacts.get(id_, ()))
            self._headless.discard(id_)
            self._artifacts[id_] = [text]
            # Text that was shown stands; where the snapshot goes on from there, the rest is new.
            if text.startswith(before) and text != before:
                yield self._producer.emit(Kind.TEXT_DELTA, text=text[len(before) :])
        yield from self._enter(task.status)

    def _piece(self, event: ArtifactUpdate) -> Iterator[Envelope]:
        id_, text = event.artifact.artifact_id, _text_of(event.artifact.parts)
        if not event.append:
            self._headless.discard(id_)
            self._artifacts[id_] = []
        elif id_ not in self._artifacts:
            self._headless.add(id_)
        self._artifacts.setdefault(id_, []).append(text)
        if text:
            yield self._producer.emit(Kind.TEXT_DELTA, text=text)

    def _said(self, message: Message) -> Iterator[Envelope]:
        """The text of an agent's message, once; after a snapshot it may come again."""
        text = _text_of(message.parts)
        if message.role not in ("agent", "ROLE_AGENT") or not text:
            return
        before = self._messages.setdefault(message.message_id, text)
        if before is not text:
            if before != text:
                raise Contradiction(f"message {message.message_id} had another text")
            return
        yield self._producer.emit(Kind.TEXT_DELTA, text=text)


def _unwrapped(value: object) -> tuple[str, dict[str, object]]:
    """The kind of an event, and the event, without what is wrapped around it."""
    if isinstance(value, dict) and "jsonrpc" in value:
        if isinstance(value.get("error"), dict):
            return "error", value["error"]
        value = value.get("result")
    if not isinstance(value, dict):
        raise TypeError(f"expected a JSON object, got {type(value).__name__}")
    if "kind" in value:
        return str(value["kind"]), value
    held = [name for name in value if name in _MEMBERS]
    if len(held) != 1:
        names = ", ".join(_MEMBERS)
        raise ValueError(f"expected a kind, or exactly one of the members {names}")
    inner = value[held[0]]
    if not isinstance(inner, dict):
        raise TypeError(f"{held[0]}: expected a JSON object, got {type(inner).__name__}")
    return _MEMBERS[held[0]], inner


def _state_of(status: Status) -> str:
    name = status.state.removeprefix("TASK_STATE_")
    if name != status.state:
        name = name.lower().replace("_", "-")
    if name == "unknown":
        name = "unspecified"
    if name not in STATES:
        raise Unsupported(f"state {status.state}")
    return name


def _artifacts(task: Task) -> list[Artifact]:
    return task.artifacts or []


def _text_of(parts: list[Part]) -> str:
    return "".join(part.text for part in parts if part.text is not None)
