"""What `doneness agent` and `doneness log` show: the watchers of one terminal, put together."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console

from doneness.machine.watchers.quiet import QuietView
from doneness.machine.watchers.summary import UsageSummary
from doneness.machine.watchers.terminal import TerminalView
from doneness.machine.watchers.timing import TimeSplit

Event = Mapping[str, object]


class Views:
    """The terminal view with the summaries behind it, or the quiet view alone."""

    def __init__(self, status_of: Callable[[Event], str], *, quiet: bool) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):  # whatever the locale
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
        self._console = Console(highlight=False, soft_wrap=True)
        self._status_of = status_of
        self._view = None if quiet else TerminalView(status_of, self._console)
        self._quiet = QuietView(sys.stdout)
        self._summary, self._split = UsageSummary(), TimeSplit()

    def start(self) -> None:
        """Begin to move, on a terminal."""
        if self._view is not None:
            self._view.__enter__()

    def feed(self, event: Event) -> None:
        """Show one event."""
        self._summary.feed(event)
        self._split.feed(event)
        if self._view is not None:
            self._view.feed(event)
        else:
            self._status_of(event)
            self._quiet.feed(event)

    def show_status(self, line: str) -> None:
        """Show a status that follows from no event."""
        if self._view is not None:
            self._view.show_status(line)

    def end(self, status_line: str) -> None:
        """Show the last status, and what the run took."""
        self.show_status(status_line)
        if self._view is not None:
            self._view.close()
            lines = [*self._summary.lines(), *self._split.lines()]
            self._console.print("; ".join(lines), style="dim", markup=False)

    def close(self) -> None:
        """Give the terminal back, whatever happened; idempotent."""
        if self._view is not None:
            self._view.close()


@contextmanager
def views(status_of: Callable[[Event], str], *, quiet: bool) -> Iterator[Views]:
    """Views for one run, or for the runs of one log; the terminal is given back at the end."""
    shown = Views(status_of, quiet=quiet)
    try:
        shown.start()
        yield shown
    finally:
        shown.close()
