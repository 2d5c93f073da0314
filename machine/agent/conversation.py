"""The agent loop itself, without any I/O (contract §6).

Written once, as a generator that yields two kinds of thing: events, which are for everybody, and
requests, which are for whoever drives it: open the model, hand me the next chunk, close the
model, run this tool. The driver answers a request by `send`. One driver is ordinary code, one is
asynchronous; neither knows the rules of the loop, so both behave alike.

Two records are kept. `messages` is for the model: it grows by whole rounds only, so that at every
model call, and also after an early stop, each assistant message with `tool_calls` is followed by
one `tool` message for each of them. The events are for everybody else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final

from doneness.machine.agent.answer import Answer, AnswerError, CallText
from doneness.machine.agent.calls import NAME, Outcome, parsed_arguments

ROUNDS_MAX: Final = 12
"""How many model calls a run may make (contract §6)."""

Event = dict[str, object]
"""JSON-serialisable; carries `type` and `ts` (seconds since 1970, UTC)."""

Message = dict[str, object]
"""One message of the chat-completions API."""


@dataclass(frozen=True, slots=True)
class OpenModel:
    """Request: call the model with these messages. Answer: None, or a ModelFailure."""

    messages: list[Message]


@dataclass(frozen=True, slots=True)
class NextChunk:
    """Request: the next chunk. Answer: a chunk, END, or a ModelFailure."""


END: Final = object()
"""The stream of the model ended. Not None: an endpoint may send `null` as a chunk."""


@dataclass(frozen=True, slots=True)
class CloseModel:
    """Request: close the stream, whether it was read to its end or not. Answer: None."""


@dataclass(frozen=True, slots=True)
class RunTool:
    """Request: run this tool. Answer: its Outcome."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """The model call failed; `message` says how, for people."""

    message: str


Request = OpenModel | NextChunk | CloseModel | RunTool
Reply = object
Steps = Generator[Event | Request, Reply, None]

# Why a run ended with `error`, for programs; `message` says it for people.
MODEL_CALL_FAILED: Final = "model_call_failed"
ROUND_LIMIT: Final = "round_limit"

# How a stream says that the answer is whole. An answer that ends otherwise (cut at a length
# limit, filtered, or with a reason that nobody knows) is not shown as one.
_WHOLE: Final = frozenset({"stop"})
# Any of these may stand at the end of an answer with tool calls: endpoints differ. Arguments
# that were cut by `length` are no JSON object, which the model can still mend.
_WHOLE_WITH_CALLS: Final = frozenset({"stop", "tool_calls", "length"})


def conversation(
    messages: list[Message],
    *,
    rounds_max: int = ROUNDS_MAX,
    clock: Callable[[], float],
) -> Steps:
    """The loop. Closing the generator ends it; nothing is then shown as done.

    Args:
        messages: What the model is told first; the loop appends to this very list.
        rounds_max: The round limit, at least 1.
        clock: Seconds since 1970, for `ts`.
    """
    if rounds_max < 1:
        raise ValueError(f"rounds_max: expected at least 1 round, got {rounds_max}")

    def event(kind: str, **fields: object) -> Event:
        return {"type": kind, "ts": clock(), **fields}

    used: set[str] = set()
    for iteration in range(1, rounds_max + 1):
        yield event("iteration_start", iteration=iteration)
        answer = Answer()
        failure = yield from _listen(answer, messages, event)
        if answer.usage:
            yield event("usage", **answer.usage)
        if failure is not None:
            yield event("error", message=failure.message, reason=MODEL_CALL_FAILED)
            return
        calls = [_named(call, iteration, used) for call in answer.calls]
        if not calls:
            messages.append({"role": "assistant", "content": answer.text})
            yield event("done")
            return
        yield from _call_tools(calls, answer.text, messages, event)
    limit = f"the round limit is reached: {rounds_max} model calls, and the task is not finished"
    yield event("error", message=limit, reason=ROUND_LIMIT)


MakeEvent = Callable[..., Event]


def _listen(
    answer: Answer, messages: list[Message], event: MakeEvent
) -> Generator[Event | Request, Reply, ModelFailure | None]:
    """One model call, from opening to closing: yields its tokens, returns what went wrong."""
    failure: ModelFailure | None
    opened = yield OpenModel(messages)
    if isinstance(opened, ModelFailure):
        failure = opened
    else:
        failure = yield from _read(answer, event)
    yield CloseModel()
    for piece in answer.end():
        yield event("token", content=piece)
    return failure or _unfinished(answer)


def _read(
    answer: Answer, event: MakeEvent
) -> Generator[Event | Request, Reply, ModelFailure | None]:
    while True:
        chunk = yield NextChunk()
        if chunk is END:
            return None
        if isinstance(chunk, ModelFailure):
            return chunk
        try:
            pieces = answer.feed(chunk)
        except AnswerError as error:
            return ModelFailure(f"the model call failed: {error}")
        for piece in pieces:
            yield event("token", content=piece)


def _unfinished(answer: Answer) -> ModelFailure | None:
    """The stream ended; None if what it brought is a whole answer.

    The end of a stream proves nothing: a connection may end cleanly in the middle of a text.
    """
    reason = answer.finish_reason
    if reason in (_WHOLE_WITH_CALLS if answer.calls else _WHOLE):
        return None
    if reason is None:
        what = "the stream ended before the model said that its answer is finished"
    elif reason in _WHOLE_WITH_CALLS - {"length"}:
        what = f"the answer ended with {reason!r}, but no tool call came"
    else:
        what = f"the answer is not whole: it ended with {reason!r}"
    return ModelFailure(f"the model call failed: {what}")


def _named(call: CallText, iteration: int, used: set[str]) -> CallText:
    """`call` with an id of its own; endpoints leave ids out, or use them again."""
    call_id, spare = call.call_id, 0
    while not call_id or call_id in used:
        spare += 1
        call_id = f"call_{iteration}_{spare}"
    used.add(call_id)
    return CallText(call_id, call.name, call.arguments)


def _call_tools(
    calls: list[CallText], text: str, messages: list[Message], event: MakeEvent
) -> Generator[Event | Request, Reply, None]:
    """Run the calls one after the other; the round enters `messages` whole, come what may."""
    outputs: dict[str, str] = {}
    try:
        for call in calls:
            args = parsed_arguments(call.arguments)
            yield event("tool_start", call_id=call.call_id, name=call.name, args=args)
            outputs[call.call_id] = "stopped while the tool was running; its effect is unknown"
            outcome = yield RunTool(call.name, call.arguments)
            assert isinstance(outcome, Outcome)
            outputs[call.call_id] = outcome.output
            yield event(
                "tool_result",
                call_id=call.call_id,
                name=call.name,
                output=outcome.output,
                is_error=outcome.is_error,
            )
    finally:
        messages.append(_assistant(calls, text))
        for call in calls:
            output = outputs.get(call.call_id, "not run: the run was stopped before")
            messages.append({"role": "tool", "tool_call_id": call.call_id, "content": output})


def _assistant(calls: list[CallText], text: str) -> Message:
    return {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": _api_name(call.name), "arguments": call.arguments},
            }
            for call in calls
        ],
    }


def _api_name(name: str) -> str:
    """`name` as the API accepts it; a model may make up any text, and the API refuses some."""
    if NAME.fullmatch(name):
        return name
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"
