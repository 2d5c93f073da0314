"""What a scripted model says, and how it fails to say it: data and functions on data.

An answer is a list of steps: bytes to send, pauses, and ways to break off. Ordinary answers are
made by `answer` from text and calls; a fault is a function that makes a broken answer from a
good one. So a test writes `cut_in_character(answer("合成"))`, and a generator combines them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Send:
    """Send these bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Send nothing for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection here, in the middle of the response; `reset` does so by a TCP reset."""

    reset: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Never end: send nothing more until the client leaves."""


Step = Send | Pause | Cut | Hold


@dataclass(frozen=True, slots=True)
class Answer:
    """One response: status, headers, and the steps of its body.

    With `sized`, the body is sent in HTTP chunks, so that its end is known; without, it ends
    where the connection ends, and a cut looks like an end.
    """

    steps: tuple[Step, ...]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),)
    sized: bool = True

    @property
    def body(self) -> bytes:
        """All bytes that it would send."""
        return b"".join(step.data for step in self.steps if isinstance(step, Send))


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model makes; `arguments` as JSON text is sent as it is.

    `pieces` is into how many fragments the arguments are cut.
    """

    name: str
    arguments: Json | str
    call_id: str | None = None
    pieces: int = 3

    def text(self) -> str:
        """The arguments as JSON text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


USAGE: Final[Json] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
DONE: Final = Send(b"data: [DONE]\n\n")


def chunk(*choices: Json, usage: Json | None = None) -> Json:
    """A `chat.completion.chunk` object."""
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": list(choices),
        "usage": usage,
    }


def choice(delta: Json, finish_reason: str | None = None, index: int = 0) -> Json:
    """One choice of a chunk."""
    return {"index": index, "delta": delta, "finish_reason": finish_reason}


def event(data: object, *, escaped: bool = False) -> Send:
    """One server-sent event with `data` as JSON.

    Text outside ASCII is sent as it is, or `escaped`; lone surrogates can only be escaped.
    """
    text = json.dumps(data, ensure_ascii=escaped)
    if not escaped and not _is_utf8(text):
        text = json.dumps(data)
    return Send(b"data: " + text.encode() + b"\n\n")


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def answer(
    *said: str | Call, usage: Json | None = USAGE, finish_reason: str | None = None
) -> Answer:
    """An answer that says each text as one token and makes each call, in this order.

    The reason at its end is `tool_calls` if it makes any, else `stop`, unless given.
    """
    calls = [each for each in said if isinstance(each, Call)]
    reason = finish_reason or ("tool_calls" if calls else "stop")
    return from_chunks(
        [
            chunk(choice({"role": "assistant", "content": ""})),
            *(chunk(choice({"content": each})) for each in said if isinstance(each, str)),
            *(
                chunk(choice({"tool_calls": [fragment]}))
                for index, call in enumerate(calls)
                for fragment in fragments(call, index)
            ),
            chunk(choice({}, reason)),
            *([chunk(usage=usage)] if usage else []),
        ]
    )


def fragments(call: Call, index: int) -> Iterator[Json]:
    """The fragments of one call, as a stream carries them: the name first, then arguments."""
    text, count = call.text(), max(1, call.pieces)
    named: Json = {"name": call.name, "arguments": ""}
    first: Json = {"index": index, "type": "function", "function": named}
    yield {**first, "id": call.call_id} if call.call_id is not None else first
    bounds = [len(text) * piece // count for piece in range(count + 1)]
    for start, end in pairwise(bounds):
        yield {"index": index, "function": {"arguments": text[start:end]}}


def from_chunks(chunks: Iterable[Json]) -> Answer:
    """An answer of these chunks, with `[DONE]` at its end."""
    return Answer((*(event(each) for each in chunks), DONE))


# Faults: each makes a broken answer from a good one.


def cut_at(good: Answer, offset: int, *, reset: bool = False) -> Answer:
    """Close the connection after `offset` bytes of the body."""
    return replace(good, steps=(Send(good.body[:offset]), Cut(reset)))


def cut_in_event(good: Answer, number: int = 1) -> Answer:
    """Close the connection in the middle of the event `number`, counted from 0."""
    sent = [step for step in good.steps if isinstance(step, Send)]
    before = b"".join(step.data for step in sent[:number])
    return cut_at(good, len(before) + len(sent[number].data) // 2)


def cut_in_character(good: Answer) -> Answer:
    """Close the connection inside the first character that has more than one byte.

    Raises:
        ValueError: it has none.
    """
    for offset, byte in enumerate(good.body):
        if byte >= 0x80:
            return cut_at(good, offset + 1)
    raise ValueError("expected an answer with a character outside ASCII; there is none to cut")


def never_ending(good: Answer, events: int | None = None) -> Answer:
    """Send the first `events` (by default all before the end), then hold the connection open."""
    steps = unfinished(good).steps if events is None else good.steps[:events]
    return replace(good, steps=(*steps, Hold()))


def delayed(good: Answer, seconds: float) -> Answer:
    """Pause before each step."""
    return replace(
        good, steps=tuple(part for step in good.steps for part in (Pause(seconds), step))
    )


def unfinished(good: Answer) -> Answer:
    """End cleanly before the finish reason and `[DONE]` were sent."""
    cut = next((n for n, step in enumerate(good.steps) if _finishes(step)), len(good.steps))
    return replace(good, steps=good.steps[:cut])


def malformed(good: Answer, number: int = 1, data: bytes = b'data: {"choices": [\n\n') -> Answer:
    """Put an event that is no JSON (or other bytes) before the step `number`."""
    return replace(good, steps=(*good.steps[:number], Send(data), *good.steps[number:]))


def broken_off(good: Answer, message: str, number: int = 1) -> Answer:
    """Say in the middle of the stream that the server failed."""
    return replace(good, steps=(*good.steps[:number], event({"error": {"message": message}})))


def refused(status: int, message: str, *, retry_after_ms: int | None = None) -> Answer:
    """An error status, with the error as JSON, and when to call again."""
    retry = () if retry_after_ms is None else (("Retry-After-Ms", str(retry_after_ms)),)
    body = json.dumps({"error": {"message": message, "type": "scripted", "code": status}})
    kind = (("Content-Type", "application/json"),)
    return Answer((Send(body.encode()),), status, (*kind, *retry))


def _finishes(step: Step) -> bool:
    return isinstance(step, Send) and (step == DONE or b'"finish_reason": "' in step.data)
