"""What the light environment (`make model`) cannot collect is left out there, by name.

The full one (`make test`) has everything, so there nothing is left out.
"""

from __future__ import annotations

from importlib.util import find_spec

NEEDS = {
    "adapters/openai_agents": "agents",
    "agent": "pydantic",
    "fixtures/test_cases.py": "jsonschema",
    "generators/suite/test_complete_suite.py": "jsonschema",
    "subjects/test_protocol_page.py": "jsonschema",
    "watchers": "rich",
    "web": "starlette",
}
"""Folders and files of tests, each with the module that is there only with its extra."""

collect_ignore = [path for path, module in NEEDS.items() if find_spec(module) is None]


def pytest_report_header() -> str | None:
    """Say what is left out."""
    return (
        f"left out here, for want of their extras: {', '.join(collect_ignore)}"
        if collect_ignore
        else None
    )
