"""The quiet view: only failed tools and errors (contract §6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from doneness.machine.visible import visible

LINE_WIDTH_MAX = 500


class QuietView:
    """Writes one line for each failed tool and for an error, and nothing else.

    Args:
        stream: Where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def feed(self, event: Mapping[str, object]) -> None:
        """Take one event."""
        kind = event.get("type")
        if kind == "tool_result" and event.get("is_error"):
            name = visible(str(event.get("name", "")), 64)
            self._write(f"✗ {name}: {visible(str(event.get('output', '')), LINE_WIDTH_MAX)}")
        elif kind == "error":
            self._write(f"✗ {visible(str(event.get('message', '')), LINE_WIDTH_MAX)}")

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()
