"""Real headless Chromium's own EventSource, over a local server that sends chunks as they are cut.

The server hands the page a list of streams; the page opens an EventSource for each, keeps what
it is given until the connection ends, and posts it all back. Each chunk is one chunk of the HTTP
response, flushed on its own; Chromium may still see two together, which is its own affair.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Sequence

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

_PAGE = """<!doctype html><meta charset="utf-8"><script>
const types = __TYPES__, count = __COUNT__, found = [];
function one(number) {
  return new Promise((resolve) => {
    const source = new EventSource("/stream/" + number), events = [];
    for (const type of new Set(["message", ...types[number]])) {
      source.addEventListener(type, (event) => {
        if (event instanceof MessageEvent) events.push([event.type, event.data, event.lastEventId]);
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


async def _frames(streams: Sequence[tuple[Sequence[bytes], Sequence[str]]], seconds: float) -> list:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list] = loop.create_future()
    types = json.dumps([list(types) for _, types in streams])
    page = _PAGE.replace("__TYPES__", types).replace("__COUNT__", str(len(streams))).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        target = head.split(" ", 2)[1]
        if target.startswith("/stream/"):
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            )
            for chunk in streams[int(target.rpartition("/")[2])][0]:
                if chunk:
                    writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                    await writer.drain()
                    await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n")
        else:
            if target == "/found":
                lines = head.lower().split("\r\n")
                length = next(line for line in lines if line.startswith("content-length:"))
                body = await reader.readexactly(int(length.partition(":")[2]))
                if not found.done():
                    found.set_result(json.loads(body))
            content = page if target == "/" else b""
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
            )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
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
            return await asyncio.wait_for(found, seconds)
        finally:
            browser.terminate()
            await browser.wait()
            server.close()


def frames(
    streams: Sequence[tuple[Sequence[bytes], Sequence[str]]], seconds: float = 300
) -> list[list[tuple[str, str, str]]] | None:
    """What Chromium frames of each stream, given the event types to listen for.

    None where there is no Chromium.
    """
    if shutil.which("chromium") is None:
        return None
    found = asyncio.run(_frames(streams, seconds))
    return [[tuple(event) for event in events] for events in found]
