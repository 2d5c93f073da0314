"""The Python peers, each at its decoder layer: chunks in, `(event, data, id)` out.

A peer is used as its own client uses it, with the connection left out. Where a client waits,
reconnects or parses JSON after it has framed an event, that step alone is replaced, and said so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

Framed = tuple[str, str, str]
Decode = Callable[[Iterable[bytes]], Iterable[Any]]


class Peer(NamedTuple):
    """A peer.

    Attributes:
        name: Its distribution on PyPI.
        decode: Chunks to its own event objects.
        framed: One of those to `(event, data, id)`; None for what is not an event.
    """

    name: str
    decode: Decode
    framed: Callable[[Any], Framed | None]

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.name)

    def events(self, chunks: Iterable[bytes]) -> Iterator[Framed]:
        """What the peer frames."""
        return filter(None, map(self.framed, self.decode(chunks)))


def _doneness(chunks: Iterable[bytes]) -> Iterator[Any]:
    from doneness.machine.framing import SSEDecoder

    decoder = SSEDecoder("replace")
    for chunk in chunks:
        yield from decoder.feed(chunk)
    yield from decoder.finish()


def _httpx_sse(chunks: Iterable[bytes]) -> Iterator[Any]:
    import httpx
    from httpx_sse import EventSource

    headers = {"content-type": "text/event-stream"}
    return EventSource(httpx.Response(200, headers=headers, content=iter(chunks))).iter_sse()


def _openai(chunks: Iterable[bytes]) -> Iterator[Any]:
    from openai._streaming import SSEDecoder

    return SSEDecoder().iter_bytes(iter(chunks))


def _anthropic(chunks: Iterable[bytes]) -> Iterator[Any]:
    from anthropic._streaming import SSEDecoder

    return SSEDecoder().iter_bytes(iter(chunks))


def _sseclient(chunks: Iterable[bytes]) -> Iterator[Any]:
    from sseclient import SSEClient

    return SSEClient(iter(chunks)).events()


def _launchdarkly(chunks: Iterable[bytes]) -> Iterator[Any]:
    from ld_eventsource.reader import _BufferedLineReader, _SSEReader

    return _SSEReader(_BufferedLineReader.lines_from(iter(chunks))).events_and_comments()


def _langgraph(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Its JSON step is replaced by one that keeps the text."""
    from langgraph_sdk import sse

    sse.orjson = SimpleNamespace(  # type: ignore[assignment]
        loads=lambda body: bytes(body).decode(errors="replace"), JSONDecodeError=ValueError
    )
    lines, decoder = sse.BytesLineDecoder(), sse.SSEDecoder()
    for chunk in chunks:
        for line in lines.decode(chunk):
            found = decoder.decode(line)
            if found is not None and decoder.has_data:
                yield found
    for line in lines.flush():
        found = decoder.decode(line)
        if found is not None and decoder.has_data:
            yield found


class _EndOfStreamError(Exception):
    pass


def _requests_sse(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Its reconnection ends the stream."""
    import requests
    from requests_sse import EventSource

    class Once(EventSource):
        def _process_field(self, field_name: str, field_value: str) -> None:
            super()._process_field(field_name, field_value)
            self._reconnection_time = timedelta(0)  # or it would wait before the end

        def connect(self, retry: int = 0) -> None:  # noqa: ARG002 # as overridden
            raise _EndOfStreamError

    response = requests.Response()
    response.status_code = 200
    response.raw = SimpleNamespace(
        stream=lambda *_args, **_kwargs: iter(chunks), close=lambda: None
    )
    source = Once("http://127.0.0.1/", reconnection_time=timedelta(0))
    source._response, source._data_generator = response, response.iter_lines()
    source._origin = ""
    with suppress(_EndOfStreamError):
        yield from source


def _aiohttp_sse(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Its reconnection ends the stream; its lines come from aiohttp's own reader."""
    from aiohttp import StreamReader
    from aiohttp.base_protocol import BaseProtocol
    from aiohttp_sse_client2.client import EventSource

    async def run() -> list[Any]:
        loop = asyncio.get_running_loop()
        reader = StreamReader(BaseProtocol(loop), 2**30, loop=loop)  # nobody pauses here

        class Once(EventSource):
            def _process_field(self, field_name: str, field_value: str) -> None:
                super()._process_field(field_name, field_value)
                self._reconnection_time = timedelta(0)  # likewise

            async def connect(self, retry: int = 0) -> None:  # noqa: ARG002 # as overridden
                raise _EndOfStreamError

        source = Once(
            "http://127.0.0.1/", session=SimpleNamespace(), reconnection_time=timedelta(0)
        )
        source._response = SimpleNamespace(status=200, content=_Content(reader, chunks))
        source._origin = ""
        found = []
        with suppress(_EndOfStreamError):
            async for event in source:
                found.append(event)  # noqa: PERF401 # kept when the end is raised
        return found

    yield from _LOOP.run_until_complete(run())


_LOOP: Final = asyncio.new_event_loop()


class _Content:
    """Feeds aiohttp's reader all chunks, then reads; so this says nothing of promptness."""

    def __init__(self, reader: Any, chunks: Iterable[bytes]) -> None:
        self._reader = reader
        self._chunks = iter(chunks)
        self._lines = self._every_line()

    async def _every_line(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            self._reader.feed_data(chunk)
        self._reader.feed_eof()
        async for line in self._reader:
            yield line

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._lines


def _by_attributes(event: Any) -> Framed:
    return event.event or "message", event.data, event.id or ""


def _of_launchdarkly(event: Any) -> Framed | None:
    if not hasattr(event, "event"):
        return None
    return event.event, event.data, event.last_event_id or ""


def _of_requests(event: Any) -> Framed:
    return event.type or "message", event.data, event.last_event_id or ""


def _of_langgraph(part: Any) -> Framed:
    return part.event or "message", part.data or "", part.id or ""


OURS: Final = Peer("doneness", _doneness, _by_attributes)

PEERS: Final = (
    Peer("httpx-sse", _httpx_sse, _by_attributes),
    Peer("openai", _openai, _by_attributes),
    Peer("anthropic", _anthropic, _by_attributes),
    Peer("sseclient-py", _sseclient, _by_attributes),
    Peer("aiohttp-sse-client2", _aiohttp_sse, _of_requests),
    Peer("requests-sse", _requests_sse, _of_requests),
    Peer("launchdarkly-eventsource", _launchdarkly, _of_launchdarkly),
    Peer("langgraph-sdk", _langgraph, _of_langgraph),
)
