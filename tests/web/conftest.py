"""The page on a real port, in a thread of its own, and a real browser in front of it."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from doneness.machine.web.app import application
from doneness.machine.web.hub import Hub
from doneness.machine.web.serving import PageServer, listening

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Served:
    """A hub, its host if it has one, and the page in front of them, in an event loop of its own.

    `make` is called in that loop and gives the hub and the host. A small proxy stands between the
    browser and the page, so that a connection can be cut in mid-event.
    """

    def __init__(self, make: Callable[[], tuple[Hub, Any]]) -> None:
        self._make = make
        self._pipes: set[asyncio.StreamWriter] = set()
        self._port = self._behind = 0
        self.bytes_max: int | None = None  # of the next answers, before the proxy cuts them
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        assert ready.wait(30)

    def stop(self) -> None:
        self.call(setattr, self._server, "should_exit", True)
        self._thread.join()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a function that is called in the loop."""

        async def called() -> Any:
            return function(*arguments)

        return asyncio.run_coroutine_threadsafe(called(), self._loop).result(30)

    def publish(self, run: str, *records: Mapping[str, object]) -> None:
        for record in records:
            self.call(self.hub.streams[run].publish, record)

    def cut(self) -> None:
        """Reset every connection."""

        def cut() -> None:
            for writer in list(self._pipes):
                writer.transport.abort()

        self.call(cut)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self.hub, self.host = self._make()
        app = application(self.hub, self.host, heartbeat_seconds=0.5)
        self._server = PageServer(app, self.hub)
        listener = listening("127.0.0.1", 0)
        self._behind = listener.getsockname()[1]
        proxy = await asyncio.start_server(self._pipe, "127.0.0.1", self._port)
        self._port = proxy.sockets[0].getsockname()[1]
        ready.set()
        await self._server.serve(sockets=[listener])
        if self.host is not None:
            await self.host.close()
        proxy.close()
        for writer in list(self._pipes):
            writer.transport.abort()
        listener.close()

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._behind)
            both = {writer, behind_writer}
            self._pipes |= both
            tasks = [
                asyncio.create_task(self._copy(reader, behind_writer, limited=False)),
                asyncio.create_task(self._copy(behind_reader, writer, limited=True)),
            ]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._pipes -= both
            for each in both:
                each.transport.abort() if self.bytes_max is not None else each.close()

    async def _copy(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, limited: bool
    ) -> None:
        count = 0
        stream = False
        with suppress(OSError):
            while data := await source.read(65536):
                stream = stream or b"text/event-stream" in data
                if limited and stream and self.bytes_max is not None:
                    data = data[: max(0, self.bytes_max - count)]
                count += len(data)
                target.write(data)
                await target.drain()
                if limited and stream and self.bytes_max is not None and count >= self.bytes_max:
                    return


Serve = Callable[[Callable[[], tuple[Hub, Any]]], Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves what it is given, until the test is over."""
    served: list[Served] = []

    def start(make: Callable[[], tuple[Hub, Any]]) -> Served:
        served.append(Served(make))
        return served[-1]

    yield start
    for each in served:
        if each._thread.is_alive():
            each.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens the page in a new tab; what the page complains about fails the test."""
    complaints: list[str] = []
    context = browser.new_context(locale="en-GB")

    def open_tab(url: str, run: str = "", script: str = "") -> Any:
        page = context.new_page()
        page.add_init_script(script)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{url}#{run}")
        page.wait_for_selector("#main:not([hidden])")
        return page

    yield open_tab
    context.close()
    assert complaints == []


@pytest.fixture
def only_hub(tmp_path: Path) -> Callable[[], tuple[Hub, None]]:
    """A hub without a host: what is in its folder has ended."""

    def make() -> tuple[Hub, None]:
        hub = Hub(tmp_path / "runs")
        hub.load()
        return hub, None

    return make
