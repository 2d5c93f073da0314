"""Tools of a real MCP server, a process of its own: to the SDK, and to us, they are functions.

A tool of such a server can fail in two ways. The server answers, and says in its answer that the
tool failed: the SDK makes an ordinary output of that, so the call *returned*. Or nothing is
answered (the protocol refuses, the process dies): that is raised, so the call *failed*.
"""

from __future__ import annotations

import sys
from pathlib import Path

import agents
import pytest
from agents.testing import assistant_message, function_call

pytest.importorskip("mcp", reason="needs the package mcp, which openai-agents brings along")

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

SERVER = '''
import os

try:
    from mcp.server import MCPServer
except ImportError:  # before 2.0
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("inspection", log_level="CRITICAL")


@server.tool()
def look(item: int) -> str:
    """Look at an item."""
    if item < 0:
        raise ValueError("no such item")
    if item == 0:
        os._exit(0)
    return f"item {item} checked"


server.run("stdio")
'''


async def _play(stage, tmp_path: Path, *items: int) -> None:
    from agents.mcp import MCPServerStdio  # it needs what is asked for above

    script = tmp_path / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    calls = [
        function_call("look", {"item": item}, call_id=f"c{n}") for n, item in enumerate(items, 1)
    ]
    params = {"command": sys.executable, "args": [str(script)]}
    # The list is asked for once: a server that died in the first turn cannot answer in the second.
    async with MCPServerStdio(
        params=params, cache_tools_list=True, client_session_timeout_seconds=60
    ) as server:
        model = await stage.model([[call] for call in calls] + [[assistant_message("ok")]])
        await stage.start(agents.Agent(name="a", model=model, mcp_servers=[server])).to_end()


async def test_the_tools_of_a_server_start_and_return(stage, tmp_path):
    await _play(stage, tmp_path, 1, 2)
    of_calls = [(kind, data["call_id"]) for kind, data in stage.last.log if "call_id" in data]
    assert [call for call in of_calls if call[1] == "c1"] == [
        ("tool.requested", "c1"),
        ("tool.started", "c1"),
        ("tool.finished", "c1"),
    ]
    assert stage.last.tools == {"c1": "returned", "c2": "returned"}
    assert stage.last.progress.final_text == "ok"
    assert stage.last.shown_at_eof() == "checking"


async def test_a_failure_that_the_server_answers_returned(scripted, tmp_path):
    await _play(scripted, tmp_path, -1)
    assert scripted.last.tools == {"c1": "returned"}
    assert scripted.last.shown_at_eof() == "checking"


async def test_a_server_that_dies_in_a_call_fails_it(scripted, tmp_path):
    await _play(scripted, tmp_path, 1, 0)
    assert scripted.last.tools == {"c1": "returned", "c2": "failed"}
    assert scripted.last.shown_at_eof() == "checking"
