"""The agent loop and its example (contract §6).

One loop yields events and prints nothing; everybody else reads them. The parts, bottom up:

- `answer` assembles one streamed model answer from its chunks;
- `tools` makes typed Python functions callable by a model; `todo` is the example;
- `conversation` is the loop itself, without any I/O;
- `loop` drives it over HTTP, once for ordinary and once for asynchronous code;
- `scripted_server` is a model endpoint that needs no key and no network;
- `tracked` gives a run its status, and `testing` asserts on what an agent did.

The names below are imported when they are first used: the loop's rules need none of the packages
that the extra `agent` brings.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from doneness.machine.agent.endpoint import Endpoint
    from doneness.machine.agent.loop import run_agent, run_agent_async
    from doneness.machine.agent.scripted_server import ScriptedServer
    from doneness.machine.agent.testing import behaviour_of
    from doneness.machine.agent.todo import TodoList
    from doneness.machine.agent.tools import Tools
    from doneness.machine.agent.tracked import TrackedRun

__all__ = [
    "Endpoint",
    "ScriptedServer",
    "TodoList",
    "Tools",
    "TrackedRun",
    "behaviour_of",
    "run_agent",
    "run_agent_async",
]

_HOMES: Final = {
    "Endpoint": "endpoint",
    "ScriptedServer": "scripted_server",
    "TodoList": "todo",
    "Tools": "tools",
    "TrackedRun": "tracked",
    "behaviour_of": "testing",
    "run_agent": "loop",
    "run_agent_async": "loop",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
