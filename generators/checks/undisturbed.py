"""Nothing runs in the midst of what is traced but what is traced.

Whoever listens to the collector of garbage (Hypothesis does) has code run whenever it comes, and a
trace function sees that as part of the call that it happened in.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """No garbage is collected meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
