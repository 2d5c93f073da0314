"""SSE framing: bytes in, events out (contract §5)."""

from doneness.machine.framing.decoder import SSEDecoder
from doneness.machine.framing.errors import (
    FramingError,
    InvalidUtf8Error,
    StreamEndedError,
    TooLongError,
)
from doneness.machine.framing.events import Comment, Event, Unfinished

__all__ = [
    "Comment",
    "Event",
    "FramingError",
    "InvalidUtf8Error",
    "SSEDecoder",
    "StreamEndedError",
    "TooLongError",
    "Unfinished",
]
