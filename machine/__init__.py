"""What runs: the hand-written reducer and everything that feeds or reads it.

Nothing here imports the declared tables; only the vocabulary (names and labels) is shared.
"""

if __name__ != "doneness.machine":  # imported from the repository root: a second module object
    raise ImportError(f"import this package as doneness.machine, not as {__name__}")

from doneness.machine.acceptance import acceptance
from doneness.machine.framing import SSEDecoder
from doneness.machine.producer import Producer
from doneness.machine.reducer import Progress

__all__ = ["Producer", "Progress", "SSEDecoder", "acceptance"]
