"""From the stream of OpenAI-compatible chat completions to envelopes.

There is one event type, the chunk, and beside it an error object and `[DONE]`. All three are said
by the model's side: `finish_reason` ends one answer, `[DONE]` ends one response, and neither says
whether the owner will send the tools' results and ask again. So this adapter never ends a run.

With several choices the answers are alternatives. The text of the run is that of choice 0; the
others are observed, since their pieces come interleaved and belong to no single text.

Source: `ChatCompletionChunk` of the package openai 3.57, and what compatible servers were seen to
send: no `[DONE]`, a first chunk without an id, an error object as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from doneness.machine.adapters.base import (
    Anything,
    Contradiction,
    Row,
    Treatment,
    Unsupported,
    WireAdapter,
)
from doneness.machine.producer import Envelope
from doneness.spec.vocabulary import Kind


class Function(msgspec.Struct):
    """A piece of a call's name and arguments."""

    name: str | None = None
    arguments: str | None = None


class CallPiece(msgspec.Struct):
    """A fragment of a tool call."""

    index: int
    id: str | None = None
    function: Function | None = None


class Delta(msgspec.Struct):
    """A piece of an answer."""

    content: str | None = None
    tool_calls: list[CallPiece] | None = None
    function_call: Function | None = None


class Choice(msgspec.Struct):
    """A piece of one of the answers."""

    index: int
    delta: Delta
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """A chunk."""

    choices: list[Choice]
    id: str | None = None


class ErrorBody(msgspec.Struct):
    """What went wrong."""

    message: str | None = None
    code: object = None
    type: str | None = None


class ErrorObject(msgspec.Struct):
    """The stream failed."""

    error: ErrorBody | str


CHUNK: Final = "chat.completion.chunk"
DONE: Final = "[DONE]"

TABLE: Final[Mapping[str, Row]] = {
    CHUNK: Row(
        Treatment.MAPPED,
        Chunk,
        "`text.delta`, `tool.requested` and an ending, of choice 0; without choices (usage, "
        "moderation): none",
    ),
    "chat.completion": Row(
        Treatment.BLOCKING, Anything, "a whole completion is no piece of a stream"
    ),
    "error": Row(Treatment.MAPPED, ErrorObject, "`model.unresolved`"),
    DONE: Row(
        Treatment.MAPPED,
        str,
        "none after a `finish_reason`; without one, `model.unresolved`",
    ),
}
"""How each thing that the stream can carry is treated."""

FINISH_REASONS: Final[Mapping[str, str]] = {
    "stop": "`model.completed`",
    "tool_calls": "`tool.requested` for each call, then `model.completed`",
    "length": "`model.unresolved`: the text or the arguments are cut",
    "content_filter": "`model.unresolved`: content was left out",
    "function_call": "blocking: a call of the retired kind has no id",
}
"""What each `finish_reason` becomes; another one blocks success."""

_ENDED_WELL: Final = frozenset({"stop", "tool_calls"})
_ENDED_BADLY: Final = frozenset({"length", "content_filter"})
_TAKEN: Final = 0


class OpenAIChatAdapter(WireAdapter):
    """One stream, or several behind each other, of chat completions."""

    format: ClassVar[str] = "chat"
    table: ClassVar[Mapping[str, Row]] = TABLE
    owner_note: ClassVar[str] = (
        "`finish_reason` and `[DONE]` are the model's statements about one response; "
        "how the run ended is said by the program that sent the request"
    )

    def __init__(self, run: str) -> None:
        super().__init__(run)
        self._id: str | None = None  # of the response that is open
        self._open = False
        self._finished = False  # choice 0 has its finish_reason, and no other response began
        self._sealed: str | None = None  # the response that [DONE] ended
        self._calls: dict[int, str] = {}  # of choice 0: index and id

    def feed(self, data: str | bytes, event: str = "message") -> list[Envelope]:
        """See the base; `[DONE]` is no JSON."""
        if data in (DONE, DONE.encode()):
            return self.feed_value(DONE, event)
        return super().feed(data, event)

    def _type_of(self, value: object, _event: str) -> str:
        if value == DONE:
            return DONE
        if not isinstance(value, dict):
            raise TypeError(f"expected a JSON object, got {type(value).__name__}")
        if value.get("error") is not None:
            return "error"
        object_ = value.get("object")
        if object_ is None or object_ == "":  # some servers leave it empty on the first chunk
            return CHUNK
        if not isinstance(object_, str):
            raise TypeError(f"object: expected a str, got {type(object_).__name__}")
        return object_

    def _take(self, _type: str, event: Any) -> Iterator[Envelope]:
        match event:
            case Chunk():
                yield from self._chunk(event)
            case ErrorObject(error=error):
                yield self._unresolved(error if isinstance(error, str) else _reason(error))
            case _ if self._open and not self._finished:
                yield self._unresolved("[DONE] without a finish_reason")
                self._seal()
            case _:
                self._seal()

    def _chunk(self, chunk: Chunk) -> Iterator[Envelope]:
        self._identify(chunk.id or None)
        for choice in chunk.choices:
            if choice.index == _TAKEN:
                yield from self._choice(choice)

    def _identify(self, id_: str | None) -> None:
        if id_ is None:
            return
        if id_ == self._sealed:
            raise Contradiction(f"{id_} ended with [DONE]")
        if self._id is not None and id_ != self._id:
            if self._open and not self._finished:
                raise Contradiction(f"{self._id} is open, and this is {id_}")
            self._seal()
        self._id = id_

    def _choice(self, choice: Choice) -> Iterator[Envelope]:
        delta = choice.delta
        if self._finished and (delta.content or delta.tool_calls or choice.finish_reason):
            raise Contradiction("the answer has its finish_reason already")
        self._open = True
        if delta.function_call is not None:
            raise Unsupported(FINISH_REASONS["function_call"])
        if delta.content:
            yield self._producer.emit(Kind.TEXT_DELTA, text=delta.content)
        for piece in delta.tool_calls or ():
            self._piece(piece)
        if choice.finish_reason is not None:
            yield from self._finish(choice.finish_reason)

    def _piece(self, piece: CallPiece) -> None:
        before = self._calls.get(piece.index, "")
        if before and piece.id and piece.id != before:
            raise Contradiction(f"call {piece.index} is {before}, and this is {piece.id}")
        self._calls[piece.index] = before or piece.id or ""

    def _finish(self, reason: str) -> Iterator[Envelope]:
        if reason in _ENDED_BADLY:
            yield self._unresolved(reason)
            self._finished = True
            return
        if reason not in _ENDED_WELL:
            raise Unsupported(f"finish_reason {reason}")
        if reason == "tool_calls" and not self._calls:
            raise Contradiction("finish_reason tool_calls, and there is no call")
        if not self._id:
            raise ValueError("a response without an id")
        for _, call_id in sorted(self._calls.items()):
            if not call_id:
                raise ValueError("a call without an id")
            yield self._producer.emit(Kind.TOOL_REQUESTED, call_id=call_id)
        self._finished = True
        yield self._producer.emit(Kind.MODEL_COMPLETED, response_id=self._id)

    def _unresolved(self, reason: str) -> Envelope:
        return self._producer.emit(Kind.MODEL_UNRESOLVED, response_id=self._id, reason=reason)

    def _seal(self) -> None:
        self._sealed, self._id = self._id, None
        self._open = self._finished = False
        self._calls.clear()


def _reason(error: ErrorBody) -> str:
    code = error.code if isinstance(error.code, str) else None
    return code or error.type or error.message or "error"
