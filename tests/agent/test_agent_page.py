"""The agent page's programs run as they are written, and no endpoint is a clear error."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, cast

import pytest

from doneness.machine.agent import Tools, run_agent, run_agent_async

PAGE = Path(__file__).parent.parent.parent / "docs" / "agent.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_each_program_of_the_page_runs(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name that the program does not make itself."""
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    exec(program, {"__name__": "page"})


def test_no_endpoint_is_refused_with_what_to_do() -> None:
    """`Endpoint.from_environment` answers None where nothing is set."""
    nothing = cast("Any", None)
    with pytest.raises(TypeError, match="expected an Endpoint, got NoneType; set LLM_BASE_URL"):
        next(run_agent("x", Tools(), nothing))
    with pytest.raises(TypeError, match="expected an Endpoint, got NoneType; set LLM_BASE_URL"):
        asyncio.run(first_of_async(nothing))


async def first_of_async(endpoint: Any) -> object:
    """The first event of the asynchronous loop."""
    return await anext(run_agent_async("x", Tools(), endpoint))
