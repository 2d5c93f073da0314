"""One server process, 1,000 viewers of 100 runs: nothing lost, twice, or out of order."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from doneness.machine.framing import SSEDecoder
from doneness.machine.reducer import Progress

RUNS = 100
VIEWERS = 1000
RECORDS = 60
LEAVE_EVERY = 4
"""Each fourth viewer drops its connection twice in mid-stream, and resumes."""


@pytest.fixture
def sockets() -> None:
    """Room for the sockets of the viewers; the server inherits it."""
    wanted = 2 * VIEWERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"the system allows {hard} open files, {wanted} are needed")
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("sockets")
def test_a_thousand_viewers_of_a_hundred_runs(tmp_path: Path) -> None:
    script = Path(__file__).with_name("load_server.py")
    command = [sys.executable, str(script), str(tmp_path), str(RUNS), str(RECORDS)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as server:
        try:
            watching, left = asyncio.run(_watch(server))
        finally:
            server.kill()
    assert watching == VIEWERS  # all of them at once
    assert left == 0  # and none is kept after it left


async def _watch(server: subprocess.Popen[str]) -> tuple[int, int]:
    assert server.stdin is not None
    assert server.stdout is not None
    port = int(server.stdout.readline())
    connected = asyncio.Semaphore(0)
    viewers = [asyncio.create_task(_viewer(port, number, connected)) for number in range(VIEWERS)]
    for _ in range(VIEWERS):
        await connected.acquire()
    server.stdin.write("begin\n")
    server.stdin.flush()
    watching = int(await asyncio.to_thread(server.stdout.readline))
    await asyncio.gather(*viewers)
    server.stdin.write("end\n")
    server.stdin.flush()
    return watching, int(await asyncio.to_thread(server.stdout.readline))


async def _viewer(port: int, number: int, connected: asyncio.Semaphore) -> None:
    """Reads its run to the end, and holds what it got against what must have come."""
    run = f"run-{number % RUNS}"
    progress = Progress(run)
    got: list[str] = []
    breaks = [RECORDS // 3, 2 * RECORDS // 3] if number % LEAVE_EVERY == 0 else []
    seen, ended = 0, False
    while not ended:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = f"GET /runs/{run}/events HTTP/1.0\r\nHost: 127.0.0.1\r\nLast-Event-ID: {seen}"
        writer.write(f"{request}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.split()[1] == b"200"
        if seen == 0:
            await reader.readuntil(b"\n\n")  # the first bytes of the stream: it is being watched
            connected.release()
        decoder = SSEDecoder()
        while not ended and not (breaks and seen >= breaks[0]):
            chunk = await reader.read(1000)
            assert chunk, "the stream broke off"
            for event in decoder.feed(chunk):
                if event.event == "end":
                    ended = True
                    continue
                seen = int(event.id)
                got.append(json.loads(event.data)["data"]["text"])
                progress.feed_json(event.data.encode())
                if breaks and seen >= breaks[0]:
                    break  # what else has come is thrown away, and asked for again
        breaks = breaks[1:]
        writer.close()
    assert got == [f"{run} 合成 {n}" for n in range(RECORDS)]
    assert (progress.issues, progress.duplicates, progress.foreign) == ([], 0, 0)
    assert progress.last_seq == RECORDS
