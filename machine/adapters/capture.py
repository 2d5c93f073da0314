"""From the bytes of a captured stream to what an adapter makes of them, event by event.

A capture is what came over a connection: server-sent events, through this project's own decoder.
Test collections and logs hold the same events as JSON instead: an array, an object with the array
under `stream`, `events` or `input`, or one event a line. Which of these it is shows in its first
line: no field of a server-sent event begins as an object, an array, a text or a number does, and
none is the whole of `null`, `true` or `false`.

Nothing is passed over: JSON that is no event is refused by the adapter, and a capture that is
neither of the two is one event that nobody can read.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from doneness.machine.adapters.a2a import A2AAdapter
from doneness.machine.adapters.ag_ui import AGUIAdapter
from doneness.machine.adapters.anthropic_messages import AnthropicMessagesAdapter
from doneness.machine.adapters.base import WireAdapter
from doneness.machine.adapters.openai_chat import OpenAIChatAdapter
from doneness.machine.adapters.openai_responses import OpenAIResponsesAdapter
from doneness.machine.framing import SSEDecoder
from doneness.machine.framing.errors import FramingError
from doneness.machine.json_text import parse
from doneness.machine.producer import Envelope

ADAPTERS: Final[Mapping[str, type[WireAdapter]]] = {
    adapter.format: adapter
    for adapter in (
        A2AAdapter,
        AGUIAdapter,
        AnthropicMessagesAdapter,
        OpenAIChatAdapter,
        OpenAIResponsesAdapter,
    )
}
"""The adapter of each format, by the name that `doneness replay --from` takes."""

_JSON_START: Final = re.compile(rb'[\[{"\-0-9]')
_FIRST_LINE: Final = re.compile(rb"([^\r\n]*)[\r\n]")
_EVENT_LINE: Final = re.compile(rb"(?:data|event|id|retry)(?::|$)|:")
_COLLECTIONS: Final = ("stream", "events", "input")


class Taken(NamedTuple):
    """One event of a capture.

    Attributes:
        said: Its event type.
        envelopes: What the adapter made of it; none for an observation.
    """

    said: str
    envelopes: tuple[Envelope, ...]


def taken(chunks: Iterable[bytes], adapter: WireAdapter) -> Iterator[Taken]:
    """What `adapter` makes of a capture, as it arrives. Never raises over what the bytes hold.

    Args:
        chunks: The bytes of the capture, cut anywhere.
        adapter: A new one, of the format of the capture.
    """
    chunks = iter(chunks)
    start = begun = b""
    for chunk in chunks:
        start += chunk
        begun = _begun(start)
        if _JSON_START.match(begun) or _FIRST_LINE.match(begun):
            break
    rest = chain((start,), chunks)
    line = _FIRST_LINE.match(begun)
    first = line[1] if line else begun
    if _JSON_START.match(begun) or _is_json(first):
        yield from _taken_json(rest, adapter)
        return
    some = False
    for event in _taken_events(rest, adapter):
        some = True
        yield event
    if first and not some and not _EVENT_LINE.match(first):
        reason = f"expected server-sent events or JSON, got {first[:50].decode(errors='replace')!r}"
        yield Taken("framing", tuple(adapter.unreadable(reason)))


def _begun(start: bytes) -> bytes:
    """The start of a capture, from its first character that is no space."""
    return b"" if BOM_UTF8.startswith(start) else start.removeprefix(BOM_UTF8).lstrip()


def _taken_events(chunks: Iterable[bytes], adapter: WireAdapter) -> Iterator[Taken]:
    decoder = SSEDecoder()
    try:
        for chunk in chunks:
            for event in decoder.feed(chunk):
                said = _name(event.data, event.event, adapter)
                yield Taken(said, tuple(adapter.feed(event.data, event.event)))
        decoder.finish()
    except FramingError as error:
        yield Taken("framing", tuple(adapter.unreadable(str(error))))


def _taken_json(chunks: Iterable[bytes], adapter: WireAdapter) -> Iterator[Taken]:
    lines: Iterator[bytes] = (line for line in _lines(chunks) if line.strip())
    first = next(lines)
    values = _collection(first)
    if values is None and not _is_json(first):  # a document of several lines, or a broken line
        rest = list(lines)
        document = first + b"".join(rest)
        if _is_json(document):
            values = _collection(document)
            first, rest = document, []
        lines = iter(rest)
    if values is not None:
        for value in values:
            yield Taken(adapter.name_of(value), tuple(adapter.feed_value(value)))
    else:
        lines = chain((first,), lines)
    for line in lines:
        yield Taken(_name(line, "message", adapter), tuple(adapter.feed(line.strip())))


def _name(data: str | bytes, event: str, adapter: WireAdapter) -> str:
    try:
        return adapter.name_of(parse(data.encode() if isinstance(data, str) else data), event)
    except Exception:  # noqa: BLE001 # no JSON: `[DONE]`, or what the adapter will refuse
        text = data.decode(errors="replace") if isinstance(data, bytes) else data
        return adapter.name_of(text.strip(), event)


def _is_json(document: bytes) -> bool:
    try:
        parse(document)
    except Exception:  # noqa: BLE001 # whatever is wrong with it, it is none
        return False
    return True


def _collection(document: bytes) -> list[object] | None:
    """The events of a document that holds several; None if it is none, or holds one."""
    try:
        value = parse(document)
    except Exception:  # noqa: BLE001 # as above
        return None
    if isinstance(value, dict) and "type" not in value:
        held = (value.get(name) for name in _COLLECTIONS)
        value = next((values for values in held if isinstance(values, list)), None)
    return value if isinstance(value, list) else None


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends, as they arrive; the last may have none."""
    kept: list[bytes] = []
    at_start = True
    for chunk in chunks:
        *whole, tail = chunk.split(b"\n")
        for part in whole:
            line = b"".join([*kept, part, b"\n"])
            kept = []
            yield line.removeprefix(BOM_UTF8) if at_start else line
            at_start = False
        kept.append(tail)
    last = b"".join(kept)
    yield last.removeprefix(BOM_UTF8) if at_start else last
