"""In front of the reducer, never inside it (contract §7).

A real connection repeats, overtakes, floods and breaks. Each of these has a small part of its own
here; none of them judges what an envelope means, and none loses one in silence.
"""

from doneness.machine.transport.backpressure import Channel, ChannelClosedError
from doneness.machine.transport.cursor import Missing, Resumable, Snapshot
from doneness.machine.transport.journal import Appended, Journal, JournalError
from doneness.machine.transport.limits import LimitExceededError, Limits
from doneness.machine.transport.receiver import Receiver
from doneness.machine.transport.resequencer import Resequencer

__all__ = [
    "Appended",
    "Channel",
    "ChannelClosedError",
    "Journal",
    "JournalError",
    "LimitExceededError",
    "Limits",
    "Missing",
    "Receiver",
    "Resequencer",
    "Resumable",
    "Snapshot",
]
