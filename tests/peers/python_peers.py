"""The Python peers, each at its decoder layer: chunks in, `(event, data, id)` out.

A peer is used as its own client uses it, with the connection left out. Where a client waits,
reconnects or parses JSON after it has framed an event, that step alone is replaced, and said so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
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
        bulk: Likewise to `decode`, for speed: where taking chunks one by one would measure how
            they are brought to the peer rather than the peer.
    """

    name: str
    decode: Decode
    framed: Callable[[Any], Framed | None]
    bulk: Decode | None = None

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.name)

    def events(self, chunks: Iterable[bytes]) -> Iterator[Framed]:
        """What the peer frames."""
        return filter(None, map(self.framed, self.decode(chunks)))


def _doneness(chunks: Iterable[bytes]) -> Iterator[Any]:
    from doneness.machine.framing import SSEDecoder, iter_events

    return iter_events(chunks, SSEDecoder("replace"))


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


class _OnAiohttp:
    """Its reconnection ends the stream; its lines come from aiohttp's own reader."""

    def __init__(self) -> None:
        from aiohttp import StreamReader
        from aiohttp.base_protocol import BaseProtocol
        from aiohttp_sse_client2.client import EventSource

        class Once(EventSource):
            def _process_field(self, field_name: str, field_value: str) -> None:
                super()._process_field(field_name, field_value)
                self._reconnection_time = timedelta(0)  # likewise

            async def connect(self, retry: int = 0) -> None:  # noqa: ARG002 # as overridden
                raise _EndOfStreamError

        connected = BaseProtocol(_LOOP)
        connected.connection_made(asyncio.Transport())
        self.reader = StreamReader(connected, 2**30, loop=_LOOP)  # nobody pauses here
        self._source = Once(
            "http://127.0.0.1/", session=SimpleNamespace(), reconnection_time=timedelta(0)
        )
        self._source._response = SimpleNamespace(status=200, content=self.reader)
        self._source._origin = ""
        self.found: list[Any] = []

    async def read(self) -> None:
        """Read to the end."""
        with suppress(_EndOfStreamError):
            async for event in self._source:
                self.found.append(event)  # kept when the end is raised


async def _made() -> _OnAiohttp:
    return _OnAiohttp()


def _aiohttp_sse(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Each chunk is there alone: what it completes comes before the next is asked for."""
    client = _LOOP.run_until_complete(_made())
    reading = _LOOP.create_task(client.read())
    try:
        for chunk in chunks:
            client.reader.feed_data(chunk)
            for _ in range(3):  # the reader wakes, the client reads, and waits again
                _LOOP.run_until_complete(asyncio.sleep(0))
            yield from client.found
            client.found.clear()
            if reading.done():
                break
        client.reader.feed_eof()
        _LOOP.run_until_complete(reading)
        yield from client.found
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError, Exception):
            _LOOP.run_until_complete(reading)


def _aiohttp_sse_bulk(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Its reader has all chunks before the first line is read."""
    client = _LOOP.run_until_complete(_made())
    for chunk in chunks:
        client.reader.feed_data(chunk)
    client.reader.feed_eof()
    _LOOP.run_until_complete(client.read())
    yield from client.found


_LOOP: Final = asyncio.new_event_loop()


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
    Peer("aiohttp-sse-client2", _aiohttp_sse, _of_requests, bulk=_aiohttp_sse_bulk),
    Peer("requests-sse", _requests_sse, _of_requests),
    Peer("launchdarkly-eventsource", _launchdarkly, _of_launchdarkly),
    Peer("langgraph-sdk", _langgraph, _of_langgraph),
)
