"""The usage summary: what a run took, in tokens, rounds and tool calls (contract §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from doneness.machine.visible import visible


class UsageSummary:
    """Counts; read at the end.

    Attributes:
        tokens: The sum of each token count that the model reported, by its name.
        rounds: Model calls.
        calls: Tool calls that came back, by tool.
        failed: Those among them that failed.
    """

    def __init__(self) -> None:
        self.tokens: Counter[str] = Counter()
        self.rounds = 0
        self.reported = 0
        self.calls: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def feed(self, event: Mapping[str, object]) -> None:
        """Take one event."""
        kind = event.get("type")
        if kind == "iteration_start":
            self.rounds += 1
        elif kind == "usage":
            self.reported += 1
            for name, count in event.items():
                if name != "ts" and isinstance(count, int) and not isinstance(count, bool):
                    self.tokens[name] += count
        elif kind == "tool_result":
            name = str(event.get("name", ""))
            self.calls[name] += 1
            self.failed[name] += bool(event.get("is_error"))

    def lines(self) -> list[str]:
        """The summary, for people."""
        told = "" if self.reported == self.rounds else f" (usage reported by {self.reported})"
        found = [f"{_counted(self.rounds, 'model call')}{told}"]
        found += [f"{visible(name)}: {count:,}" for name, count in self.tokens.items()]
        for name, count in self.calls.items():
            failed = f", {self.failed[name]} failed" if self.failed[name] else ""
            found.append(f"{visible(name, 64)}: {_counted(count, 'tool call')}{failed}")
        return found


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
