"""The page's HTTP: headers, who may ask, and what happens when a viewer leaves."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from doneness.machine.framing import SSEDecoder
from doneness.machine.producer import Producer
from doneness.machine.web.hub import Hub

Make = Callable[[], tuple[Hub, Any]]


def asked(
    served: Any, method: str, path: str, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection(str(urlsplit(served.url).netloc), timeout=30)
    connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.headers, body


@pytest.fixture
def ended(serve: Any, only_hub: Make) -> Any:
    """A page with one run of three records, which has ended."""
    served = serve(only_hub)
    stream = served.call(served.hub.open, "r")
    producer = Producer("r")
    served.publish("r", *[producer.emit("text.delta", text="x") for _ in range(3)])
    served.call(stream.end)
    return served


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/static/page.mjs", "text/javascript"),
        ("/static/doneness.mjs", "text/javascript"),
        ("/static/page.css", "text/css"),
        ("/runs", "application/json"),
        ("/runs/r/events", "text/event-stream"),
    ],
)
def test_every_answer_is_guarded(ended: Any, path: str, kind: str) -> None:
    status, headers, body = asked(ended, "GET", path)
    assert (status, headers.get_content_type()) == (200, kind)
    assert body
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert ("X-Accel-Buffering" in headers) == (kind == "text/event-stream")


@pytest.mark.parametrize(
    ("path", "headers", "ids"),
    [
        ("/runs/r/events", {}, ["1", "2", "3", "3"]),
        ("/runs/r/events", {"Last_Event_ID": "2"}, ["3", "3"]),
        ("/runs/r/events?after=1", {}, ["2", "3", "3"]),
        ("/runs/r/events?after=1", {"Last_Event_ID": "3"}, ["3"]),
        ("/runs/r/events", {"Last_Event_ID": "99"}, ["1", "2", "3", "3"]),
        ("/runs/r/events", {"Last_Event_ID": "-1"}, ["1", "2", "3", "3"]),
        ("/runs/r/events", {"Last_Event_ID": "9" * 5000}, ["1", "2", "3", "3"]),
    ],
)
def test_it_resumes(ended: Any, path: str, headers: dict[str, str], ids: list[str]) -> None:
    status, _, body = asked(ended, "GET", path, **headers)
    assert status == 200
    assert [event.id for event in SSEDecoder().feed(body)] == ids


def test_only_the_page_itself_may_post_and_only_names_of_this_machine_are_answered(
    ended: Any,
) -> None:
    own = ended.url.rstrip("/")
    for headers, status in (
        ({"Origin": "http://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Origin": own, "Sec_Fetch_Site": "same-origin"}, 409),  # there is no host to act
        ({}, 409),
    ):
        assert asked(ended, "POST", "/runs/r/cancel", **headers)[0] == status
    for name in ("example.org", "localhost.example.org", "[", ""):
        assert asked(ended, "GET", "/runs", Host=name)[0] == 400
    for name in ("localhost", "LOCALHOST:1", "[::1]:80"):
        assert asked(ended, "GET", "/runs", Host=name)[0] == 200
    assert asked(ended, "GET", "/runs/r/cancel")[0] == 405


def test_what_is_not_there_is_said_so(ended: Any) -> None:
    for path in ("/runs/none/events", "/static/none", "/static/..%2fapp.py", "/none"):
        assert asked(ended, "GET", path)[0] == 404


def test_the_runs_are_listed_with_their_status(ended: Any) -> None:
    [run] = json.loads(asked(ended, "GET", "/runs")[2])
    assert (run["run"], run["status"], run["ended"], run["records"]) == ("r", "unknown", True, 3)


def test_a_viewer_who_leaves_is_cleaned_up(serve: Any, only_hub: Make) -> None:
    served = serve(only_hub)
    stream = served.call(served.hub.open, "r")
    address = urlsplit(served.url)
    sockets = [socket.create_connection((address.hostname, address.port)) for _ in range(3)]
    for each in sockets:
        each.sendall(f"GET /runs/r/events HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        assert each.recv(100).startswith(b"HTTP/1.1 200")
    eventually(lambda: served.call(lambda: stream.viewers) == 3)
    for each in sockets:
        each.close()
    eventually(lambda: served.call(lambda: stream.viewers) == 0)


def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it never came to hold")
