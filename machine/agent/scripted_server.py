"""A model endpoint inside this process: no key, no network, scripted answers (contract §6).

It speaks real HTTP/1.1 and server-sent events on the loopback interface, so what is tested or
shown with it is the real client and the real loop. What it answers is decided by a script, which
sees the request; it can misbehave in every way that `scripted_answers` describes. It also
watches its side of the connection: when a client leaves in the middle of an answer, the exchange
says so.

It prints nothing, and `close` leaves no thread and no socket behind.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from doneness.machine.agent.endpoint import Endpoint
from doneness.machine.agent.scripted_answers import Answer, Cut, Hold, Pause, Send, refused

REQUEST_BYTES_MAX: Final = 64_000_000
PATH: Final = "/v1/chat/completions"

Script = Callable[[dict[str, Any]], Answer]
"""Decides the answer from the body of the request; called once a request, in any thread."""


class Sequence:
    """A script that gives its answers one after the other, whatever is asked.

    For one conversation at a time. A request after the last answer is refused with status 400,
    which the client does not try again.
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = iter(answers)
        self._lock = threading.Lock()

    def __call__(self, _request: dict[str, Any]) -> Answer:
        """The next answer."""
        with self._lock:
            return next(self._answers, refused(400, "the script has no further answer"))


@dataclass(slots=True)
class Exchange:
    """One request (header names in lower case), and what became of its answer.

    `client_left` is set when the client closed the connection before the answer was over;
    `over` when nothing more will be sent.
    """

    request: dict[str, Any]
    headers: dict[str, str]
    client_left: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class ScriptedServer:
    """An OpenAI-compatible endpoint on a free port of the loopback interface.

    A context manager; it answers from when it is made until `close`.

    Args:
        script: The answers of one conversation, in order, or a function of the request.
    """

    def __init__(self, script: Script | Iterable[Answer]) -> None:
        self.exchanges: list[Exchange] = []
        self._script = script if callable(script) else Sequence(script)
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        serve = self._http.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.05,), name="scripted-server")
        self._thread.start()

    @property
    def base_url(self) -> str:
        """What to use as `LLM_BASE_URL`."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def endpoint(self, **settings: Any) -> Endpoint:
        """This server as an `Endpoint`; `settings` replace that one's defaults."""
        return Endpoint(
            **{"base_url": self.base_url, "model": "scripted", "direct": True, **settings}
        )

    def close(self) -> None:
        """Stop: open connections are cut; idempotent."""
        self._http.shutdown()
        self._thread.join()
        self._http.cut_connections()
        self._http.server_close()  # joins the threads of the connections

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def answer_to(self, exchange: Exchange) -> Answer:
        """Record the exchange and ask the script."""
        self.exchanges.append(exchange)
        return self._script(exchange.request)


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that `server_close` joins them
    request_queue_size = 128
    owner: ScriptedServer

    def __init__(self, *args: Any) -> None:
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def cut_connections(self) -> None:
        """Wake every thread that waits for a client."""
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is no news, and nothing is printed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each step leaves at once
    server: _Http

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """There is nothing to get."""
        self._play(refused(404, f"only POST {PATH} is served here"))

    def do_POST(self) -> None:
        """One model call."""
        request = self._body()
        if isinstance(request, Answer):
            self._play(request)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(request, headers)
        try:
            self._play(self.server.owner.answer_to(exchange))
        except _ClientLeftError:
            exchange.client_left.set()
            self.close_connection = True
        finally:
            exchange.over.set()

    def _body(self) -> dict[str, Any] | Answer:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > REQUEST_BYTES_MAX:
            self.close_connection = True  # the body stays unread
            return refused(411, f"expected a Content-Length of at most {REQUEST_BYTES_MAX} bytes")
        body = self.rfile.read(int(length))
        if self.path != PATH:
            return refused(404, f"only POST {PATH} is served here")
        try:
            request = json.loads(body)
        except ValueError as error:
            return refused(400, f"the request is no JSON: {error}")
        if not isinstance(request, dict) or not request.get("stream"):
            return refused(400, "expected a JSON object with stream: true")
        return request

    def _play(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if answer.sized:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self._sending(self.end_headers)
        for step in answer.steps:
            match step:
                case Send(data):
                    self._send(data, sized=answer.sized)
                case Pause(seconds):
                    self._wait(seconds)
                case Hold():
                    self._wait(None)
                case Cut(reset):
                    self._cut(reset=reset)
                    return
        if answer.sized:
            # The client has the whole answer; it may leave without having read this mark.
            with contextlib.suppress(_ClientLeftError):
                self._sending(lambda: self.wfile.write(b"0\r\n\r\n"))

    def _send(self, data: bytes, *, sized: bool) -> None:
        if data:
            framed = b"%x\r\n%b\r\n" % (len(data), data) if sized else data
            self._sending(lambda: self.wfile.write(framed))

    def _sending(self, send: Callable[[], object]) -> None:
        try:
            send()
        except OSError as error:
            self.close_connection = True
            raise _ClientLeftError from error

    def _wait(self, seconds: float | None) -> None:
        # A client that sends nothing more and is readable has closed its side.
        readable, _, _ = select.select([self.connection], [], [], seconds)
        if readable:
            raise _ClientLeftError

    def _cut(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            at_once = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)


class _ClientLeftError(Exception):
    """The client closed the connection while it was being answered."""
