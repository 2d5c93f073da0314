"""Real headless Chromium's own EventSource, over a local server that sends chunks as they are cut.

The server hands the page a list of streams; the page opens an EventSource for each, keeps what
it is given until the connection ends, and posts it all back. Each chunk is one chunk of the HTTP
response, flushed on its own; Chromium may still see two together, which is its own affair.
Promptness: the server holds a stream back after the byte that completes its event, and sees
whether the page has it all the same.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HELD_SECONDS = 3.0
"""So long an event may take that its last byte has brought out."""

Stream = tuple[Sequence[bytes], Sequence[str]]
Serve = Callable[[int, asyncio.StreamWriter], Awaitable[None]]

_PAGE = """<!doctype html><meta charset="utf-8"><script>
const types = __TYPES__, count = types.length, found = [];
function one(number) {
  return new Promise((resolve) => {
    const source = new EventSource("/stream/" + number), events = [];
    for (const type of new Set(["message", ...types[number]])) {
      source.addEventListener(type, (event) => {
        if (!(event instanceof MessageEvent)) return;
        events.push([event.type, event.data, event.lastEventId]);
        if (__TELL__) fetch("/seen/" + number);
      });
    }
    source.onerror = (event) => {
      if (!(event instanceof MessageEvent)) { source.close(); resolve(events); }
    };
  });
}
async function lane(lanes, first) {
  for (let number = first; number < count; number += lanes) found[number] = await one(number);
}
Promise.all([0, 1, 2, 3].map((first) => lane(4, first)))
  .then(() => fetch("/found", { method: "POST", body: JSON.stringify(found) }));
</script>"""


class _Site:
    """The page, its streams, and what it has told."""

    def __init__(self, types: Sequence[Sequence[str]], tell: bool, serve: Serve) -> None:
        written = json.dumps([list(some) for some in types])
        page = _PAGE.replace("__TYPES__", written).replace("__TELL__", json.dumps(tell))
        self.page = page.encode()
        self.serve = serve
        self.seen = [asyncio.Event() for _ in types]
        self.found: asyncio.Future[list] = asyncio.get_running_loop().create_future()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            target = head.split(" ", 2)[1]
            place = target.rpartition("/")[2]
            if target.startswith("/stream/"):
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                )
                await self.serve(int(place), writer)
                writer.write(b"0\r\n\r\n")
            else:
                if target.startswith("/seen/"):
                    self.seen[int(place)].set()
                if target == "/found":
                    lines = head.lower().split("\r\n")
                    length = next(line for line in lines if line.startswith("content-length:"))
                    body = await reader.readexactly(int(length.partition(":")[2]))
                    if not self.found.done():
                        self.found.set_result(json.loads(body))
                content = self.page if target == "/" else b""
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
                )
            await writer.drain()
        writer.close()


async def send(writer: asyncio.StreamWriter, chunk: bytes) -> None:
    """One chunk of the response."""
    if chunk:
        writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await writer.drain()
        await asyncio.sleep(0)


async def _browsed(site: _Site, seconds: float) -> list:
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    program = shutil.which("chromium")
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = await asyncio.create_subprocess_exec(
            program,
            *FLAGS,
            f"--user-data-dir={profile}",
            f"http://127.0.0.1:{port}/",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            return await asyncio.wait_for(site.found, seconds)
        finally:
            browser.terminate()
            await browser.wait()
            server.close()


async def _frames(streams: Sequence[Stream], seconds: float) -> list:
    async def serve(number: int, writer: asyncio.StreamWriter) -> None:
        for chunk in streams[number][0]:
            await send(writer, chunk)

    return await _browsed(_Site([types for _, types in streams], False, serve), seconds)


async def _prompt(wires: Sequence[bytes], after: bytes, seconds: float) -> list[str]:
    told = ["never"] * len(wires)

    async def serve(number: int, writer: asyncio.StreamWriter) -> None:
        for text, chunk in (("prompt", wires[number]), ("late", after)):
            await send(writer, chunk)
            with suppress(TimeoutError):
                await asyncio.wait_for(site.seen[number].wait(), HELD_SECONDS)
                told[number] = text
                return

    site = _Site([[] for _ in wires], True, serve)
    await _browsed(site, seconds)
    return told


def frames(
    streams: Sequence[Stream], seconds: float = 300
) -> list[list[tuple[str, str, str]]] | None:
    """What Chromium frames of each stream, given the event types to listen for.

    None where there is no Chromium.
    """
    if shutil.which("chromium") is None:
        return None
    found = asyncio.run(_frames(streams, seconds))
    return [[tuple(event) for event in events] for events in found]


def prompt(wires: Sequence[bytes], after: bytes, seconds: float = 60) -> list[str] | None:
    """For streams of one event each: whether it is out when the last byte is there.

    `prompt`, `late` (with the bytes that come after) or `never`. None where there is no Chromium.
    """
    if shutil.which("chromium") is None:
        return None
    return asyncio.run(_prompt(wires, after, seconds))
