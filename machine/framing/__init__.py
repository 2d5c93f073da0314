"""SSE framing: bytes in, events out (contract §5), and the other way round."""

from doneness.machine.framing.decoder import SSEDecoder
from doneness.machine.framing.encoder import (
    SSEEncoder,
    encode_comment,
    encode_event,
    encode_retry,
)
from doneness.machine.framing.errors import (
    FramingError,
    InvalidUtf8Error,
    StreamEndedError,
    TooLongError,
)
from doneness.machine.framing.events import Comment, Event, Unfinished
from doneness.machine.framing.streams import (
    aiter_events,
    aresponse_events,
    iter_events,
    response_events,
)

__all__ = [
    "Comment",
    "Event",
    "FramingError",
    "InvalidUtf8Error",
    "SSEDecoder",
    "SSEEncoder",
    "StreamEndedError",
    "TooLongError",
    "Unfinished",
    "aiter_events",
    "aresponse_events",
    "encode_comment",
    "encode_event",
    "encode_retry",
    "iter_events",
    "response_events",
]
