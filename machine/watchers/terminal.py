"""The terminal view: rounds, streaming text, tools, and the status (contract §6).

Whole lines scroll up and stay; below them, while the run goes on, are the line that is still
being written, a spinner that says what is waited for, and the status line. The status is handed
in, and there is never a percentage: nobody knows how far a run is.

Where the output is no terminal nothing moves: the same lines are written, and each new status.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from doneness.machine.visible import brief, visible

Event = Mapping[str, object]

OUTPUT_WIDTH_MAX: Final = 120
REFRESHES_A_SECOND: Final = 10
TAIL_CHARS_MAX: Final = 1_000
"""How much of an unfinished line is shown while it grows; when it ends it is shown whole."""


class TerminalView:
    """Shows one run.

    Args:
        status_of: The status line after an event; called once for each, in order.
        console: Where to; by default the terminal.
    """

    def __init__(
        self, status_of: Callable[[Event], str] | None = None, console: Console | None = None
    ) -> None:
        self._status_of = status_of
        self._console = console or Console(highlight=False)
        self._pieces: list[str] = []  # the text after the last line end
        self._tail = ""  # the last characters of it
        self._waits_for = ""
        self.status_line = ""
        self._live: Live | None = None
        self._shows: Mapping[str, Callable[[Event], None]] = {
            "iteration_start": self._begin_round,
            "token": self._token,
            "tool_start": self._tool_start,
            "tool_result": self._tool_result,
            "usage": lambda _event: None,
            "done": lambda _event: None,
            "error": self._error,
        }

    def __enter__(self) -> Self:
        if self._console.is_terminal and self._live is None:
            self._live = Live(
                get_renderable=self._moving,
                console=self._console,
                refresh_per_second=REFRESHES_A_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def feed(self, event: Event) -> None:
        """Show one event, and the status after it."""
        kind = event.get("type")
        self._waits_for = "the model"
        self._shows.get(str(kind), self._unknown)(event)
        if kind in ("done", "error"):
            self._end_line()
            self._waits_for = ""
        if self._status_of is not None:
            self.show_status(self._status_of(event))

    def show_status(self, line: str) -> None:
        """Show this status line from now on; the host calls it for what is no loop event."""
        shown = visible(line)
        if shown != self.status_line:
            self.status_line = shown
            if self._live is None:
                self._end_line()
                self._write(shown, "bold")

    def close(self) -> None:
        """Stop moving; what was shown stays, with the last status below. Idempotent."""
        self._end_line()
        if self._live is not None:
            self._live.stop()
            self._live = None
            if self.status_line:
                self._write(self.status_line, "bold")

    def _moving(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self._tail:
            parts.append(Text(_prose(self._tail)))
        if self._waits_for:
            parts.append(Spinner("dots", Text(f"waiting for {self._waits_for}", "dim")))
        if self.status_line:
            parts.append(Text(self.status_line, "bold"))
        return Group(*parts)

    def _begin_round(self, event: Event) -> None:
        self._end_line()
        self._write(f"── round {brief(event.get('iteration'))}", "dim")

    def _token(self, event: Event) -> None:
        first, *rest = str(event.get("content", "")).split("\n")
        self._pieces.append(first)
        self._tail = (self._tail + first)[-TAIL_CHARS_MAX:]
        for line in rest:
            self._write_line()
            self._pieces, self._tail = [line], line[-TAIL_CHARS_MAX:]

    def _tool_start(self, event: Event) -> None:
        self._end_line()
        self._waits_for = f"{_name(event)} {brief(event.get('args'))}"
        if self._live is None:
            self._write(f"  … {self._waits_for}")

    def _tool_result(self, event: Event) -> None:
        mark, style = ("✗", "red") if event.get("is_error") else ("✓", "green")
        output = visible(str(event.get("output", "")), OUTPUT_WIDTH_MAX)
        self._write(f"  {mark} {_name(event)}: {output}", style)

    def _error(self, event: Event) -> None:
        self._end_line()
        self._write(f"✗ {visible(str(event.get('message', '')), 10 * OUTPUT_WIDTH_MAX)}", "red")

    def _unknown(self, event: Event) -> None:
        self._end_line()
        self._write(f"? an event of unknown type: {brief(event.get('type'))}", "yellow")

    def _end_line(self) -> None:
        if self._tail:
            self._write_line()

    def _write_line(self) -> None:
        line = "".join(self._pieces)
        self._pieces, self._tail = [], ""
        self._write(_prose(line))

    def _write(self, line: str, style: str = "") -> None:
        self._console.print(Text(line, style))


def _prose(line: str) -> str:
    """A line of text for reading: controls made visible, backslashes as they are."""
    return "\\".join(visible(part) for part in line.split("\\"))


def _name(event: Event) -> str:
    return visible(str(event.get("name", "")), 64)
