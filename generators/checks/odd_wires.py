"""Streams of server-sent events with odd names, values, colons, comments and sizes.

Random streams have few of each; these have one of each that a decoder is known to trim, convert,
fold, cut or take for something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from doneness.generators.checks.look_alikes import LONG_TEXTS, TEXTS

_NAMES: Final = (
    " data", "data ", "\tdata", "Data", "DATA", "dataa", "dat", "data\0", "\ufeffdata", "data-x",
    "id ", " id", "ID", "Id", "idx", "event ", "Event", "events", "e", "retry ", "Retry",
    "retry-after", "", "message", "comment", "datas", "xdata", "da ta", "\uff44ata", "type",
    "lastEventId",
)  # fmt: skip

_RETRY: Final = (
    "0", "00", "10", "007", "2147483647", "2147483648", "4294967295", "4294967296",
    "9007199254740991", "-1", "+1", "1.5", "1e3", "0x10", "10 ", " 10", "\t10", "\u0663", "\xb2",
    "\uff11", "", "abc", "10ms", "1,000", "1_000", "10\0", "Infinity", "null",
)  # fmt: skip

_LINES: Final = (
    "data", "data:", "data: ", "data:  ", "data:  x", "data:x", "data:\tx", "data::x", "data: :x",
    "data:x:y", "data: x ", "data:\0", ": data: x", ":data: x", ":", "::", ": :", " ", "x", "x:",
    "id", "id:", "id: ", "id:  1", "id: 1 ", "id: a:b", "id: \0", "id: a\0b", "event", "event:",
    "event: ", "event:  e", "event: e ", "event: a:b", "event: \0", "event: message",
    "event: error", "event: done",
    "event: \xe9", "id: \xe9", "id: e\u0301", "event: e\u0301",
    "retry", "retry:",
)  # fmt: skip

_EDGES: Final = "\x7f\x80\u07ff\u0800\ud7ff\ue000\ufeff\ufffd\uffff\U00010000\U0010ffff"
"""The first and last characters of each length in UTF-8, and some beside the surrogates."""


def odd_wires() -> Iterator[bytes]:
    """Each of the odd things, within an event and before the next one."""
    for wire in _texts():
        yield wire.encode()


def _texts() -> Iterator[str]:
    for text in TEXTS:
        value = text.replace("\r", "").replace("\n", "")
        for name in ("data", "event", "id"):
            yield f"{name}: {value}\ndata: x\n\ndata: y\n\n"
        yield f"data: a\ndata: {value}\n\n"
        yield f"event: e\n:{value}\ndata: x\n\ndata: y\n\n"
    for name in _NAMES:
        yield f"event: e\n{name}: 1\ndata: x\n\ndata: y\n\n"
        yield f"data: x\n{name}: 1\ndata: y\n\n"
    for value in _RETRY:
        yield f"retry: 5\nretry:{value}\ndata: x\n\n"
        yield f"retry: {value}\n\n"
        yield f"retry: {value}"
    for line in _LINES:
        for end in ("\n", "\r", "\r\n"):
            lines = (
                "id: 7",
                "event: f",
                line,
                "data: x",
                "",
                "data: y",
                "",
                line,
                "",
                "data: z",
                "",
                "",
            )
            yield end.join(lines)
        yield f"{line}\n\n{line}\n\ndata: x\n\n"
        yield f"data: x\n\n{line}"
        yield f"\ufeff{line}\ndata: x\n\n"
    for text in LONG_TEXTS:
        yield f"data: {text}\n\ndata: y\n\n"
        yield f":{text}\ndata: y\n\n"
        yield f"event: {text}\nid: {text}\ndata: y\n\n"
    yield "data: x\n" * 1_200 + "\n"
    yield "data: x\n\n" * 1_200
    yield "id: 1\nevent: e\n\n" * 300 + "data: x\n\n"
    yield ": ping\n\n" * 600 + "data: x\n\n"
    yield "\n" * 600 + "data: x\n\n"
    for point in (
        0x7F,
        0x80,
        0x7FF,
        0x800,
        0xD7FF,
        0xE000,
        0xFEFF,
        0xFFFD,
        0xFFFF,
        0x10000,
        0x10FFFF,
    ):
        yield f"data: {chr(point)}x{chr(point)}\nid: {chr(point)}\n\ndata: {chr(point)}\n\n"
