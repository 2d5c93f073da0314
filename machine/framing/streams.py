"""Events straight from where bytes come from: any iterable of bytes, sync or async, or httpx.

Thin on purpose: a loop around one decoder. When the bytes end, so does the iteration; an
unfinished event is dropped, and bytes that were cut inside a character are an error, as ever.
Pass a decoder of your own to read its `retry_ms` and `last_event_id`, or to set policy and limits.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING

from doneness.machine.framing.decoder import SSEDecoder
from doneness.machine.framing.errors import FramingError
from doneness.machine.framing.events import Event

if TYPE_CHECKING:
    import httpx


def iter_events(
    chunks: Iterable[bytes], decoder: SSEDecoder[Event] | None = None
) -> Iterator[Event]:
    """The events of some chunks, each as soon as it is complete.

    Raises:
        FramingError: the stream is wrong, after the events before that.
    """
    return (decoder or SSEDecoder()).stream(chunks)


async def aiter_events(
    chunks: AsyncIterable[bytes], decoder: SSEDecoder[Event] | None = None
) -> AsyncIterator[Event]:
    """Likewise, from an asynchronous iterable.

    Raises:
        FramingError: the stream is wrong, after the events before that.
    """
    decoder = decoder or SSEDecoder()
    async for chunk in chunks:
        for event in decoder.feed(chunk):
            yield event
    for event in decoder.finish():
        yield event


def response_events(
    response: httpx.Response, decoder: SSEDecoder[Event] | None = None
) -> Iterator[Event]:
    """The events of a streamed httpx response.

    Raises:
        FramingError: it is no event stream, or goes wrong.
        httpx.HTTPStatusError: its status says that there is none.
    """
    _check(response)
    return iter_events(response.iter_bytes(), decoder)


def aresponse_events(
    response: httpx.Response, decoder: SSEDecoder[Event] | None = None
) -> AsyncIterator[Event]:
    """Likewise, asynchronously.

    Raises:
        FramingError: it is no event stream, or goes wrong.
        httpx.HTTPStatusError: its status says that there is none.
    """
    _check(response)
    return aiter_events(response.aiter_bytes(), decoder)


def _check(response: httpx.Response) -> None:
    response.raise_for_status()
    kind = response.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "text/event-stream":
        raise FramingError(
            f"expected the content type text/event-stream, got {ascii(kind) if kind else 'none'}"
        )
