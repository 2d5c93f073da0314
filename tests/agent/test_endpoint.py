"""The endpoint follows the environment; without `LLM_BASE_URL` there is none."""

from __future__ import annotations

import pytest

from doneness.machine.agent.endpoint import Endpoint, EndpointError
from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import answer
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.tools import Tools

URL = "https://llm.example/v1"


@pytest.mark.parametrize("environment", [{}, {"LLM_BASE_URL": ""}, {"LLM_MODEL": "m"}])
def test_without_a_base_url_there_is_no_endpoint(environment: dict[str, str]) -> None:
    assert Endpoint.from_environment(environment) is None


def test_the_three_names() -> None:
    environment = {"LLM_BASE_URL": URL, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
    assert Endpoint.from_environment(environment) == Endpoint(URL, "m", "k")


@pytest.mark.parametrize(
    ("environment", "named"),
    [({"LLM_BASE_URL": URL}, "LLM_MODEL"), ({"LLM_BASE_URL": "llm.example"}, "LLM_BASE_URL")],
)
def test_what_is_missing_is_named(environment: dict[str, str], named: str) -> None:
    with pytest.raises(EndpointError, match=named):
        Endpoint.from_environment(environment)


def test_key_and_model_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([answer("ok")]) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL", "small")
        monkeypatch.setenv("LLM_API_KEY", "k-1")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        endpoint = Endpoint.from_environment()
        assert endpoint is not None
        assert list(run_agent("go", Tools(), endpoint))[-1]["type"] == "done"
        (exchange,) = server.exchanges
    assert exchange.headers["authorization"] == "Bearer k-1"
    assert exchange.request["model"] == "small"
    assert exchange.request["stream_options"] == {"include_usage": True}
    assert "tools" not in exchange.request


def test_no_proxy_is_asked_for_the_embedded_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with ScriptedServer([answer("ok")]) as server:
        events = list(run_agent("go", Tools(), server.endpoint(retries_max=0)))
    assert events[-1]["type"] == "done"
