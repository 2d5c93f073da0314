"""What the light environment (`make model`) cannot import is left out there, by name.

The full one (`make test`) has everything, so there nothing is left out.
"""

from __future__ import annotations

import ast
import signal
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDERS = {
    "adapters/openai_agents": "agents",
    "agent": "pydantic",
    "watchers": "rich",
    "web": "starlette",
}
"""Folders of tests, each with the module that is there only with its extra."""

HERE = Path(__file__).parent


@cache
def is_there(module: str) -> bool:
    """Whether a top-level module can be imported."""
    return find_spec(module) is not None


def imports(file: Path) -> set[str]:
    """The top-level modules that a test file imports as a whole."""
    modules = set()
    for statement in ast.parse(file.read_text("utf-8")).body:
        if isinstance(statement, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            modules.add(statement.module.split(".")[0])
    return modules


collect_ignore = [folder for folder, module in FOLDERS.items() if not is_there(module)]
if collect_ignore:
    collect_ignore += [
        str(file.relative_to(HERE))
        for file in sorted(HERE.rglob("test_*.py"))
        if not all(map(is_there, imports(file)))
    ]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out unread, under `-m model`, a file of tests that never says so: that is most."""
    asked = config.getoption("markexpr") == "model" and collection_path.suffix == ".py"
    return (asked and "mark.model" not in collection_path.read_text("utf-8")) or None


def pytest_configure() -> None:
    """Let programs that the tests start hear interrupts.

    A shell without job control makes what it runs in the background deaf to them, and that is
    inherited; a handler here is not, so they begin with the system's default.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str | None:
    """Say what is left out."""
    if not collect_ignore:
        return None
    return f"left out here, for want of their extras: {', '.join(collect_ignore)}"
