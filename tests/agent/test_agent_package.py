"""The package's public names: each can be imported, and none is imported before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from doneness.machine import agent


@pytest.mark.parametrize("name", agent.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(agent, name).__module__.startswith("doneness.machine.agent.")


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = agent.nothing


def test_the_rules_of_the_loop_need_no_extra() -> None:
    code = (
        "import sys\n"
        "for name in ('openai', 'pydantic', 'rich', 'httpx'): sys.modules[name] = None\n"
        "import doneness.machine.agent.conversation, doneness.machine.agent.tracked\n"
        "import doneness.machine.agent.scripted_server, doneness.machine.agent.testing\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
