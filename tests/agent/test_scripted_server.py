"""The embedded endpoint: real HTTP, what it refuses, how it misbehaves, and how it closes."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from urllib.parse import urlsplit

import pytest

from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import answer, cut_in_character, never_ending
from doneness.machine.agent.scripted_server import PATH, ScriptedServer
from doneness.machine.agent.tools import Tools

ASK = json.dumps({"stream": True, "messages": []})


def connect(server: ScriptedServer) -> http.client.HTTPConnection:
    place = urlsplit(server.base_url)
    assert place.hostname is not None
    return http.client.HTTPConnection(place.hostname, place.port, timeout=20)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", PATH, None, 404),
        ("POST", "/v1/responses", ASK, 404),
        ("POST", PATH, "{", 400),
        ("POST", PATH, "[]", 400),
        ("POST", PATH, '{"stream": false}', 400),
    ],
)
def test_what_is_refused(method: str, path: str, body: str | None, status: int) -> None:
    with ScriptedServer([answer("x")]) as server:
        connection = connect(server)
        connection.request(method, path, body)
        response = connection.getresponse()
        assert response.status == status
        assert json.loads(response.read())["error"]["message"]
        connection.request("POST", PATH, ASK)  # the connection is still good
        assert connection.getresponse().read() == answer("x").body
        connection.close()
        assert len(server.exchanges) == 1


def test_a_body_of_unknown_length_is_refused() -> None:
    with ScriptedServer([]) as server:
        connection = connect(server)
        connection.putrequest("POST", PATH)
        connection.putheader("Content-Length", "many")
        connection.endheaders()
        assert connection.getresponse().status == 411
        connection.close()


def test_every_byte_of_an_answer_arrives_as_scripted() -> None:
    good = answer("合成", "巡检 ✓")
    with ScriptedServer([good]) as server:
        connection = connect(server)
        connection.request("POST", PATH, ASK)
        response = connection.getresponse()
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.read() == good.body
        connection.close()
    assert "合成".encode() in good.body


def test_a_cut_in_mid_character_really_is_one() -> None:
    with ScriptedServer([cut_in_character(answer("ab合"))]) as server:
        connection = connect(server)
        connection.request("POST", PATH, ASK)
        with pytest.raises(http.client.IncompleteRead) as cut:
            connection.getresponse().read()
        assert cut.value.partial.endswith(b"ab" + "合".encode()[:1])
        connection.close()
    with pytest.raises(ValueError, match="outside ASCII"):
        cut_in_character(answer("ascii"))


def test_closing_the_server_cuts_what_never_ends_and_what_is_idle() -> None:
    threads = set(threading.enumerate())
    server = ScriptedServer([never_ending(answer("a", "b"))])
    with socket.create_connection(("127.0.0.1", urlsplit(server.base_url).port or 0)):
        events = run_agent("go", Tools(), server.endpoint(retries_max=0))
        assert [next(events)["type"] for _ in range(3)] == ["iteration_start", "token", "token"]
        server.close()
        server.close()
        assert next(events)["type"] == "error"
        assert set(threading.enumerate()) == threads
    events.close()


def test_a_script_may_be_a_function_of_the_request() -> None:
    with ScriptedServer(lambda request: answer(request["model"])) as server:
        events = list(run_agent("go", Tools(), server.endpoint(model="large")))
    assert events[1]["content"] == "large"
