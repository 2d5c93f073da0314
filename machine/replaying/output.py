"""Standard output for lines: UTF-8 whatever the locale, at once, and quiet if nobody reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Write: TypeAlias = Callable[[Iterable[str]], None]


@contextmanager
def lines_out() -> Iterator[Write]:
    """A function that prints lines; a reader that went away has had enough: the program ends."""
    stream = sys.stdout.buffer

    def write(lines: Iterable[str]) -> None:
        for line in lines:
            stream.write(line.encode("utf-8", "backslashreplace") + b"\n")
        stream.flush()

    try:
        yield write
    except BrokenPipeError:
        # What is left in the buffer would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
