"""The example of the documentation, as it stands there, over HTTP."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import agents
import pytest
from agents.testing import assistant_message

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

PAGE = Path(__file__).parents[3] / "docs" / "formats" / "openai-agents.md"


@pytest.mark.parametrize("stage", ["http"], indirect=True)
async def test_the_example_shows_done(stage, capsys):
    model = await stage.model([[assistant_message("…")]])
    agents.set_default_openai_client(model._get_client(), use_for_tracing=False)
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert source.count("asyncio.run(main())") == 1  # here in the loop that the server runs in
    awaited = source.replace("asyncio.run(main())", "await main()")
    code = compile(awaited, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    await eval(code, {})
    statuses = [line.split(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert statuses[-1] == "done"
    assert "checking" not in statuses
