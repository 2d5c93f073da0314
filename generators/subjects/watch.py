"""Work of somebody else's code in this process, watched: a loop without end is given up.

Nor may it end the process, and with it all that was found.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

_GIVE_UP_SECONDS: Final = 0.2


class Stopped(BaseException):
    """Raised inside work that took too long."""


class EndsTheProcessError(BaseException):  # no `Exception`: what catches those would go on
    """Raised inside work that would end the process."""


def finishes(
    work: Callable[[], None], seconds: float, steps: Callable[[], int] = lambda: 0
) -> tuple[bool, BaseException | None]:
    """Whether work comes to its end, and what it raised.

    It runs in a thread of its own, which is stopped when no step was made for so many seconds.
    """
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            with _alive():
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


@contextmanager
def _alive() -> Iterator[None]:
    """`os._exit` raises meanwhile; in this thread, and not in a child process."""
    really, here = os._exit, (os.getpid(), threading.get_ident())

    def exit_(status: int) -> NoReturn:
        if here != (os.getpid(), threading.get_ident()):
            really(status)
        raise EndsTheProcessError(f"os._exit({status})")

    os._exit = exit_
    try:
        yield
    finally:
        os._exit = really


def _stop(thread: threading.Thread) -> None:
    """Raise inside a thread; what does not even notice that stays behind as a daemon."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
        )
    thread.join(_GIVE_UP_SECONDS)
