"""The two stages on which every scenario is played, and what watches it.

*scripted*: the SDK's own `ScriptedModel`, no network. *http*: a server on the loopback interface
that speaks the Responses API's stream, the real `openai` client, the SDK's real model class. The
server takes its events from a `ScriptedModel` too, so both stages play the same script.

Tracing is off: nothing is exported.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import agents
import pytest
from agents.models.interface import ModelTracing
from agents.models.openai_responses import OpenAIResponsesModel
from agents.testing import ScriptedModel
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from doneness.machine import Producer, Progress, acceptance
from doneness.machine.adapters.openai_agents import StreamedRun, run_streamed


@pytest.fixture(scope="session", autouse=True)
def _no_tracing() -> None:
    agents.set_tracing_disabled(True)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class SocketCutError(Exception):
    """Raised in a stream of events: the connection breaks in the middle of the next one."""


class ResponsesServer:
    """Speaks the stream of the Responses API: one answer a request, from a script."""

    def __init__(self, script: ScriptedModel) -> None:
        self._script = script
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def close(self) -> None:
        assert self._server is not None
        for writer in self._open:
            writer.transport.abort()
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                assert head.startswith(b"POST /v1/responses "), head
                lines = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:-1])
                request = json.loads(await reader.readexactly(int(lines[b"content-length"])))
                await self._answer(writer, streamed=request.get("stream", False))
        except (asyncio.IncompleteReadError, ConnectionError, SocketCutError):
            pass
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _answer(self, writer: asyncio.StreamWriter, *, streamed: bool) -> None:
        events = self._script.stream_response(
            None,
            "",
            agents.ModelSettings(),
            [],
            None,
            [],
            ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        try:
            event = await anext(events)
        except (RuntimeError, agents.ModelBehaviorError) as error:
            message = json.dumps({"error": {"message": str(error), "code": "scripted"}})
            self._whole(writer, "400 No", message)
            return
        if not streamed:  # a nested agent that nobody watches asks for it whole
            *_, last = [event async for event in events]
            self._whole(writer, "200 OK", last.response.model_dump_json(exclude_unset=True))
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        try:
            while True:
                self._write(writer, _frame(event))
                await writer.drain()
                event = await anext(events)
        except StopAsyncIteration:
            writer.write(b"0\r\n\r\n")
        except SocketCutError:
            self._write(writer, _frame(event)[:-20])
            await writer.drain()
            raise

    @staticmethod
    def _whole(writer: asyncio.StreamWriter, status: str, text: str) -> None:
        body = text.encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    @staticmethod
    def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _frame(event: Any) -> bytes:
    return f"event: {event.type}\ndata: {event.model_dump_json(exclude_unset=True)}\n\n".encode()


class Watch:
    """One run's producer, reducer and log. What is fed passes through JSON text as well."""

    def __init__(self, run: str) -> None:
        self.producer = Producer(run)
        self.progress = Progress(run)
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.statuses: list[str] = []
        self._json = Progress(run)

    def take(self, envelope: Any) -> None:
        self.progress.feed(envelope)
        self._json.feed_json(json.dumps(envelope).encode())
        assert self._json.status is self.progress.status
        self.log.append((envelope["kind"], envelope["data"]))
        self.statuses.append(str(self.progress.status))

    @property
    def kinds(self) -> list[str]:
        """The kinds in order, a run of text fragments as one."""
        kinds: list[str] = []
        for kind, _ in self.log:
            if not (kind == "text.delta" and kinds[-1:] == [kind]):
                kinds.append(kind)
        return kinds

    @property
    def tools(self) -> dict[str, str]:
        return {call: str(state) for call, state in self.progress.tools.items()}

    @property
    def ended(self) -> list[str]:
        return [data["outcome"] for kind, data in self.log if kind == "run.ended"]

    def shown_at_eof(self) -> str:
        self.progress.close_transport()
        return str(self.progress.status)

    def shown_after_check(self, expected: str) -> str:
        verdict = acceptance(self.progress, expected)
        self.take(self.producer.emit("app.checked", **verdict))
        return str(self.progress.status)

    def assert_honest(self) -> None:
        """No done before the application's check; nothing refused unless it was blocked."""
        kinds = [kind for kind, _ in self.log]
        checked = kinds.index("app.checked") if "app.checked" in kinds else len(kinds)
        assert "done" not in self.statuses[:checked]
        if self.progress.issues:
            assert "adapter.unsupported_event" in kinds, (self.progress.issues, self.log)


class Stage:
    """Makes models that play a script, and starts runs that are watched."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.watches: list[Watch] = []
        self._open = contextlib.AsyncExitStack()

    async def model(self, steps: Iterable[Any]) -> agents.Model:
        script = ScriptedModel(steps)
        if self.kind == "scripted":
            return script
        server = ResponsesServer(script)
        base_url = await server.start()
        self._open.push_async_callback(server.close)
        http = DefaultAsyncHttpxClient(trust_env=False)
        client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, http_client=http)
        self._open.push_async_callback(client.close)
        return OpenAIResponsesModel("scripted", client)

    def watch(self) -> Watch:
        self.watches.append(Watch(f"run-{len(self.watches) + 1}"))
        return self.watches[-1]

    def start(self, agent: agents.Agent[Any], task: Any = "go", **settings: Any) -> StreamedRun:
        watch = self.watch()
        return run_streamed(agent, task, producer=watch.producer, to=watch.take, **settings)

    @property
    def last(self) -> Watch:
        return self.watches[-1]

    async def close(self) -> None:
        await self._open.aclose()


@pytest.fixture(params=["scripted", "http"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    stage = Stage(request.param)
    yield stage
    await stage.close()
    for watch in stage.watches:
        watch.assert_honest()


@pytest.fixture
async def scripted() -> AsyncIterator[Stage]:
    """Only the scripted model, for what HTTP adds nothing to."""
    stage = Stage("scripted")
    yield stage
    for watch in stage.watches:
        watch.assert_honest()


@pytest.fixture
def cut() -> type[Exception]:
    return SocketCutError
