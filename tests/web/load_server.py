"""A page server with RUNS runs of RECORDS records each, published as fast as viewers may read.

Prints its port and begins once a line comes on standard input; it ends at the end of that.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from doneness.machine.producer import Producer
from doneness.machine.web.app import application
from doneness.machine.web.hub import Hub
from doneness.machine.web.serving import PageServer, listening


async def serve(folder: Path, runs: int, records: int) -> None:
    hub = Hub(folder)
    producers = [Producer(f"run-{number}") for number in range(runs)]
    for producer in producers:
        hub.open(producer.run)
    server = PageServer(application(hub), hub)
    listener = listening("127.0.0.1", 0)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    print(listener.getsockname()[1], flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.readline)
    print(sum(stream.viewers for stream in hub.streams.values()), flush=True)  # noqa: T201
    for number in range(records):
        for producer in producers:
            envelope = producer.emit("text.delta", text=f"{producer.run} 合成 {number}")
            hub.streams[producer.run].publish(envelope)
        await asyncio.sleep(0)
    for stream in hub.streams.values():
        stream.end()
    await asyncio.to_thread(sys.stdin.readline)
    for _ in range(600):  # a connection that was dropped is noticed a little later
        if not any(stream.viewers for stream in hub.streams.values()):
            break
        await asyncio.sleep(0.05)
    print(sum(stream.viewers for stream in hub.streams.values()), flush=True)  # noqa: T201
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
