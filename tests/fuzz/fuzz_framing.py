"""A coverage-guided fuzz target: the decoder against the declared framing, cut as the input says.

The first two bytes choose policy, limits and the lengths of chunks; the rest is the stream, in
which some bytes may stand for long texts: a decoder keeps long lines otherwise than short ones. Run
by `make fuzz`; atheris (Apache-2.0) drives it. A finding is printed shrunk, as a table.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import cycle

import atheris

with atheris.instrument_imports(include=["doneness.machine.framing"]):
    from doneness.machine.framing import SSEDecoder

from doneness.generators.checks.framing import Setting, difference, shrink
from doneness.generators.framing_oracle import NO_LIMITS, FramingLimits, framed
from doneness.generators.subjects.framing import PythonDecoder

LIMITS = FramingLimits(line_bytes_max=24, event_chars_max=6, id_chars_max=2, retry_digits_max=2)
LENGTHS = ((1,), (2, 3), (1, 7), (5,), (40, 1), (9, 2, 30), (64,), (10_000,), (64, 3_000), (700,))
LONG = ((b"\x01", b"x" * 500), (b"\x02", b"y" * 2_100))
SUBJECTS = {
    NO_LIMITS: PythonDecoder("doneness.machine.framing:SSEDecoder", SSEDecoder),
    LIMITS: PythonDecoder(
        "doneness.machine.framing:SSEDecoder, limited", partial(SSEDecoder, **LIMITS._asdict())
    ),
}


def cut(wire: bytes, lengths: tuple[int, ...]) -> tuple[bytes, ...]:
    """The stream in chunks of those lengths, in turn."""
    chunks, at = [], 0
    for length in cycle(lengths):
        if at >= len(wire):
            return tuple(chunks)
        chunks.append(wire[at : at + length])
        at += length
    return ()


def one_input(data: bytes) -> None:
    """Compare once."""
    if len(data) < 2:
        return
    policy = "replace" if data[0] & 1 else "strict"
    limits = LIMITS if data[0] & 2 else NO_LIMITS
    wire = data[2:]
    if data[0] & 4:
        for short, text in LONG:
            wire = wire.replace(short, text, 2)
    setting = Setting(policy, limits, exact=True)
    chunks = cut(wire, LENGTHS[data[1] % len(LENGTHS)])
    subject = SUBJECTS[limits]
    [shown] = subject.frame([chunks], policy)
    if difference(framed(wire, policy, limits), chunks, shown, setting) is not None:
        found = shrink(subject, "fuzz", chunks, setting)
        raise AssertionError(found.table() if found else "it did not happen again")


def main() -> None:
    """Run until a finding, or as long as the arguments say."""
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
