"""One streamed answer of a model, put together from its chunks (contract §6).

A chat-completion stream is a list of small differences: pieces of text, and fragments of tool
calls that belong together by their index. A fragment may be empty, may bring the name in pieces,
may bring the id or not, and fragments of several calls may be interleaved. Nothing of this is
guessed from the order; at the end a call is what its index collected.

What an endpoint sends is not trusted to have the published shape: the client library builds its
objects without validation, so the few fields that are read here are validated here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

import msgspec

ANSWER_CHARS_MAX: Final = 4_000_000
"""Bound on the text and tool arguments of one answer, in characters."""

CALLS_MAX: Final = 128
"""Bound on the tool calls of one answer; the published API allows as many tools."""


class AnswerError(Exception):
    """The stream of one answer does not have the shape of a chat completion."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _Fragment(msgspec.Struct):
    index: int
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Fragment] | None = None


class _Choice(msgspec.Struct):
    index: int | None = None  # some endpoints leave it out
    delta: _Delta | None = None
    finish_reason: str | None = None


_Count = Annotated[int, msgspec.Meta(ge=0)] | None


class _Usage(msgspec.Struct, omit_defaults=True):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    total_tokens: _Count = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


@dataclass(slots=True)
class CallText:
    """What one index collected: all of it text, as the model sent it."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Fragments:
    call_id: str = ""
    names: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def joined(self) -> CallText:
        name, arguments = whole_text("".join(self.names)), whole_text("".join(self.arguments))
        return CallText(whole_text(self.call_id), name, arguments)


class Answer:
    """Collects one answer; `feed` each chunk, then read.

    What holds after every chunk: `text` is the text of all pieces that `feed` returned, and each
    of them can be written as UTF-8.
    """

    __slots__ = ("_calls", "_chars", "_half", "_pieces", "finish_reason", "usage")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._calls: dict[int, _Fragments] = {}
        self._chars = 0
        self._half = ""  # the first half of a surrogate pair whose second half is yet to come
        self.finish_reason: str | None = None
        self.usage: dict[str, int] = {}

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    @property
    def calls(self) -> list[CallText]:
        """The tool calls so far, in the order of their indices."""
        return [self._calls[index].joined() for index in sorted(self._calls)]

    def feed(self, chunk: object) -> list[str]:
        """Take one chunk of the stream; returns the pieces of text that it completed.

        Raises:
            AnswerError: the chunk has another shape, or the answer outgrows its bounds.
        """
        try:
            read = msgspec.convert(chunk, _Chunk, from_attributes=True)
        except msgspec.ValidationError as error:
            raise AnswerError(f"a chunk is malformed: {error}") from error
        if read.usage is not None:  # some endpoints report a running count: the last one stands
            self.usage = msgspec.to_builtins(read.usage)
        pieces: list[str] = []
        for choice in read.choices or ():
            if choice.index:  # one answer was asked for, and its index is 0
                continue
            if choice.delta is not None:
                pieces += self._take(choice.delta)
            if choice.finish_reason is not None:
                self.finish_reason = choice.finish_reason
        return pieces

    def end(self) -> list[str]:
        """The stream is over; returns the text that was held back for a second half, if any."""
        rest, self._half = whole_text(self._half), ""
        if rest:
            self._pieces.append(rest)
        return [rest] if rest else []

    def _take(self, delta: _Delta) -> list[str]:
        pieces: list[str] = []
        for text in (delta.content, delta.refusal):  # a refusal is text for the reader as well
            if text:
                pieces += self._keep(self._whole(text))
        for fragment in delta.tool_calls or ():
            self._collect(fragment)
        return pieces

    def _collect(self, fragment: _Fragment) -> None:
        call = self._calls.setdefault(fragment.index, _Fragments())
        if len(self._calls) > CALLS_MAX:
            raise AnswerError(f"more than {CALLS_MAX} tool calls in one answer")
        call.call_id = call.call_id or fragment.id or ""
        if fragment.function is not None:
            for part, into in (
                (fragment.function.name, call.names),
                (fragment.function.arguments, call.arguments),
            ):
                if part:
                    self._count(part)
                    into.append(part)

    def _keep(self, text: str) -> list[str]:
        if not text:
            return []
        self._count(text)
        self._pieces.append(text)
        return [text]

    def _count(self, text: str) -> None:
        self._chars += len(text)
        if self._chars > ANSWER_CHARS_MAX:
            raise AnswerError(f"more than {ANSWER_CHARS_MAX} characters in one answer")

    def _whole(self, text: str) -> str:
        # JSON may cut a character above U+FFFF into two escapes, in two chunks.
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole_text(text)


def whole_text(text: str) -> str:
    """`text` with surrogate pairs joined and lone halves replaced by U+FFFD.

    Such text can be written as UTF-8, which the wire, the log and the contract (§3) need.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
