"""Work of somebody else's code in this process, watched: a loop without end is given up."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Final

_GIVE_UP_SECONDS: Final = 0.2


class Stopped(BaseException):
    """Raised inside work that took too long."""


def finishes(
    work: Callable[[], None], seconds: float, steps: Callable[[], int] = lambda: 0
) -> tuple[bool, BaseException | None]:
    """Whether work comes to its end, and what it raised.

    It runs in a thread of its own, which is stopped when no step was made for so many seconds.
    """
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 # SystemExit and the like as well
            raised.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    while True:
        before = steps()
        thread.join(seconds)
        if not thread.is_alive():
            return True, raised[0] if raised else None
        if steps() == before:
            break
    _stop(thread)
    return False, None


def _stop(thread: threading.Thread) -> None:
    """Raise inside a thread; what does not even notice that stays behind as a daemon."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
        )
    thread.join(_GIVE_UP_SECONDS)
