"""What a decoder of ours tells beside its events: errors, limits, comments, what is unfinished.

The declaration says which bytes frame which events; the words and names around that are the
project's own, and expected here by hand. Each check takes the modules of the decoder, as they are
installed or changed, and yields what is wrong, a line each.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

KEYWORDS: Final = {
    "errors": "strict",
    "comments": False,
    "last_event_id": "",
    "line_bytes_max": 67_108_864,
    "event_chars_max": 134_217_728,
    "id_chars_max": 262_144,
    "retry_digits_max": 19,
}
"""What a decoder can be told, and what holds if it is not."""

LIMITS: Final = {
    "line_bytes_max": (b"data: abcd\n", "a line has more than 9 bytes (line_bytes_max)", 9),
    "event_chars_max": (
        b"data: abcd\n",
        "the data of an event has more than 3 characters (event_chars_max)",
        3,
    ),
    "id_chars_max": (b"id: abcd\n", "an id has more than 3 characters (id_chars_max)", 3),
}
"""A line that passes each limit by one, what is said of that, and the limit."""

BEGUN: Final = (
    (b"", None),
    (b"\n", None),
    (b"data: a\n\n", None),
    (b"retry: 5\r\n\r\n", None),
    (b"\xef", (b"\xef", (), "", "")),
    (b"\xef\xbb\xbf", None),
    (b"d", (b"d", (), "", "")),
    (b"dat", (b"dat", (), "", "")),
    (b"data: ", (b"data: ", (), "", "")),
    (b"data: a", (b"data: a", (), "", "")),
    (b"data:a", (b"data:a", (), "", "")),
    (b"data: a\n", (b"", ("a",), "", "")),
    (b"data: a\ndata\nevent: e\nid: 1\n: c", (b": c", ("a", ""), "e", "1")),
    (b"id: 1\n\nid: 2\n", (b"", (), "", "2")),
    (b"event: e\r\ndata: b\r", (b"", ("b",), "e", "")),
    (b"data: a\n\ndata: \xe5\x90", (b"data: \xe5\x90", (), "", "")),
)
"""Streams that stop, and what is unfinished then: line, data, type, id."""

WRONG: Final = (
    (b"data: \xff\n", b"\xff", 6, "invalid start byte"),
    (b"\xef\xbb\xbfdata: a\n\n: \xe5\x90\n", b"\xe5\x90", 14, "invalid continuation byte"),
    (b"x\r\n\r\ndata: \xed\xa0\x80\r\n", b"\xed", 11, "invalid continuation byte"),
    (b"data: b\n\xf0\x9f\x98", b"\xf0\x9f\x98", 8, "unexpected end of data"),
)
"""Streams with bytes that are no character: those bytes, where they are, and why."""

ENDS: Final = (
    b"",
    b"\xef\xbb",
    b"\xef\xbb\xbf",
    b"da",
    b"data: a",
    b"data: a\nevent: e\nid: 2\nretry: 3\n",
    b"data: a\r",
    b"data: a\n\nid: 5\n\n",
    b"data: " + b"a" * 100,
    b"data: \xff\n",
)


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """What it tells wrongly, a line each."""
    for check in (
        _keywords,
        _comments,
        _limits,
        _unfinished,
        _wrong,
        _resets,
        _kinds,
        _elements,
        _ended,
        _streams,
        _snapshots,
        _retry,
        _frozen,
    ):
        for line in check(machine):
            yield f"{check.__name__.strip('_')}: {line}"


def fed(decoder: Any, wire: bytes, size: int = 1) -> list[tuple[object, ...]]:
    """The events of a stream in chunks of one size, as they can be compared."""
    found: list[tuple[object, ...]] = []
    for at in range(0, len(wire), size):
        found += map(told, decoder.feed(wire[at : at + size]))
    return found


def told(event: Any) -> tuple[object, ...]:
    """An event or a comment, as what it says."""
    names = ("event", "data", "id") if hasattr(event, "data") else ("comment",)
    return tuple(getattr(event, name) for name in names)


def _keywords(machine: SimpleNamespace) -> Iterator[str]:
    decoder = machine.decoder.SSEDecoder
    parameters = inspect.signature(decoder).parameters
    found = {name: one.default for name, one in parameters.items()}
    if found != KEYWORDS:
        yield f"it can be told {found}"
    words = "errors must be 'strict' or 'replace', not 'ignore'"
    if (said := _raised(decoder, "ignore")) != f"ValueError: {words}":
        yield f"errors='ignore': {said}"
    for name in (*LIMITS, "retry_digits_max"):
        words = f"{name} must be at least 1, not 0"
        if (said := _raised(partial(decoder, **{name: 0}))) != f"ValueError: {words}":
            yield f"{name}=0: {said}"
        if said := _raised(partial(decoder, **{name: 1})):
            yield f"{name}=1: {said}"
    if hasattr(decoder(), "__dict__"):
        yield "it can be given attributes that it does not have"


def _comments(machine: SimpleNamespace) -> Iterator[str]:
    wire = b": ping\ndata: a\n:mid\n\n:\r\n: \xe5\x90\x88\n"
    event = ("message", "a", "")
    every = [(" ping",), ("mid",), event, ("",), (" \u5408",)]
    for size in (1, 7, 100):
        for comments, expected in ((True, every), (False, [event])):
            found = fed(machine.decoder.SSEDecoder(comments=comments), wire, size)
            if found != expected:
                yield f"comments={comments}, chunks of {size}: {found}"


def _limits(machine: SimpleNamespace) -> Iterator[str]:
    for name, (wire, words, limit) in LIMITS.items():
        advice = ": raise the limit if such streams are expected"
        for size in (1, 3, 100):
            try:
                fed(machine.decoder.SSEDecoder(**{name: limit}), wire, size)
            except machine.errors.TooLongError as error:
                if (error.limit, error.maximum, str(error)) != (name, limit, words + advice):
                    yield f"{error.limit}, {error.maximum}: {error}"
                yield from _not_the_same_again(error)
            else:
                yield f"{name}={limit}: {wire!r} is accepted"
            fed(machine.decoder.SSEDecoder(**{name: limit + 1}), wire, size)
    # The limit counts what joins the lines, and what stands before it counts for nothing.
    for name, limit, wire in (
        ("event_chars_max", 3, b"data: a\ndata: b\n\n"),
        ("event_chars_max", 1, b"data: a\n\ndata: b\n\n"),
        ("event_chars_max", 2, b"data: \xe5\x90\x88\xe5\x90\x88\n\n"),
        ("line_bytes_max", 7, b"\xef\xbb\xbfdata: a\n\ndata: b\r\n\r\n"),
        ("id_chars_max", 1, b"id: 1\nid: 2\n\nid: \xe5\x90\x88\n\n"),
    ):
        for size in (1, 2, 100):
            if _raised(fed, machine.decoder.SSEDecoder(**{name: limit}), wire, size):
                yield f"{name}={limit}: {wire!r} in chunks of {size} is refused"


def _unfinished(machine: SimpleNamespace) -> Iterator[str]:
    for wire, expected in BEGUN:
        for size in (1, 100):
            decoder = machine.decoder.SSEDecoder()
            fed(decoder, wire, size)
            rest = decoder.unfinished
            found = rest and (rest.line, rest.data, rest.event, rest.id)
            if found != expected:
                yield f"{wire!r} in chunks of {size}: {found}"
    resumed = machine.decoder.SSEDecoder(last_event_id="7")
    if resumed.unfinished is not None:
        yield "an id that was in force from the start is unfinished"


def _wrong(machine: SimpleNamespace) -> Iterator[str]:
    for wire, wrong, at, reason in WRONG:
        for size in (1, 100):
            decoder = machine.decoder.SSEDecoder()
            try:
                fed(decoder, wire, size)
                decoder.finish()
            except UnicodeDecodeError as error:
                found = (error.object, error.start, error.end, error.reason, error.encoding)
                if found != (wrong, at, at + len(wrong), reason, "utf-8"):
                    yield f"{wire!r} in chunks of {size}: {found}"
                if getattr(error, "offset", None) != at:
                    yield f"{wire!r}: its offset is {getattr(error, 'offset', None)}"
                words = (
                    f"invalid UTF-8 at byte {at} of the stream ({reason}: {wrong.hex(' ')}); "
                    "errors='replace' reads on, as browsers do"
                )
                if str(error) != words:
                    yield str(error)
                if not isinstance(error, machine.errors.FramingError):
                    yield "bytes that are no character are no FramingError"
                yield from _not_the_same_again(error)
            else:
                yield f"{wire!r} is accepted"


def _not_the_same_again(error: Exception) -> Iterator[str]:
    """What an error loses on its way to another process."""
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 # made in the same line
    if (type(again), str(again)) != (type(error), str(error)):
        yield f"{error!r} is {again!r} in another process"


def _resets(machine: SimpleNamespace) -> Iterator[str]:
    """Whatever came before, a reset decoder is a new one."""
    probe = b"\xef\xbb\xbfdata: b\n\nx: y\ndata: c"
    for arguments in ({}, {"last_event_id": "7"}):
        for end in ENDS:
            for finishes in (True, False):
                decoder, new = (machine.decoder.SSEDecoder(**arguments) for _ in range(2))
                try:
                    fed(decoder, end)
                    if finishes:
                        decoder.finish()
                except ValueError:
                    pass
                decoder.reset()
                if decoder.snapshot() != new.snapshot():
                    yield f"after {end!r} and a reset: {decoder.snapshot()}"
                if decoder.last_event_id != arguments.get("last_event_id", ""):
                    yield f"after {end!r} and a reset the id is {decoder.last_event_id!r}"
                got = (fed(decoder, probe, 100), fed(decoder, b"\n\n", 2), decoder.snapshot())
                want = (fed(new, probe, 100), fed(new, b"\n\n", 2), new.snapshot())
                if got != want or [one[1] for one in (*got[0], *got[1])] != ["b", "c"]:
                    yield f"after {end!r} and a reset: {got}, a new one: {want}"
    resumed = machine.decoder.SSEDecoder(last_event_id="7")
    if [told(one)[2] for one in resumed.feed(b"data: a\n\nid: 8\ndata: b\n\n")] != ["7", "8"]:
        yield "a resumed stream does not start with its id"


def _kinds(machine: SimpleNamespace) -> Iterator[str]:
    """Bytes of any kind are taken as they are now; anything else is refused."""
    for kind in (bytearray, memoryview):
        for before in (b"", b"data: x"):
            decoder = machine.decoder.SSEDecoder()
            decoder.feed(before)
            buffer = bytearray(b"data: y")
            decoder.feed(kind(buffer))
            buffer[:] = b"changed"
            found = fed(decoder, b"\n\n")
            if found != [("message", "xdata: y" if before else "y", "")]:
                yield f"{kind.__name__}: {found}"
    spread = memoryview(b"a?b?c?")[::2]  # with gaps, and in rows
    for view in (spread, memoryview(b"abcd").cast("B", (2, 2))):
        for before in (b"", b"data: x", b"data: " + b"x" * 600):
            decoder = machine.decoder.SSEDecoder()
            decoder.feed(before)
            if (events := decoder.feed(view)) != []:
                yield f"a view that ends no line gives {events}"
            if (rest := decoder.unfinished).line != before + bytes(view):
                yield f"a view with gaps or rows is {rest}"
    for wrong in ("text", None, 5, [1]):
        for before in (b"", b"data: x"):
            decoder = machine.decoder.SSEDecoder()
            decoder.feed(before)
            found_words = _raised(decoder.feed, wrong)
            words = f"feed takes bytes, not {type(wrong).__name__}: encode text as UTF-8"
            if found_words != f"TypeError: {words}":
                yield f"{wrong!r}: {found_words}"
            streamed = _raised(list, decoder.stream([wrong]))
            if streamed != found_words:
                yield f"{wrong!r} in a stream: {streamed}"


def _elements(machine: SimpleNamespace) -> Iterator[str]:
    """Elements that are not bytes hide no line end: they are read as bytes, or refused in time."""
    words = (
        "TypeError: feed takes bytes: a chunk held elements of another kind, and line ends among "
        "them; pass bytes(chunk)"
    )
    for kind, end in product("H?f", (b"\n", b"\r")):
        hides = b"y" + end * 2 + b" data: z" + end * 9
        view = memoryview(hides).cast(kind)  # type: ignore[call-overload] # takes any of them
        for before in (b"", b"data: a\r\n\r", b"data"):
            decoder, plain = (machine.decoder.SSEDecoder() for _ in range(2))
            for one, chunk in ((decoder, view), (plain, hides)):
                one.feed(before)
                one.feed(chunk)
            if decoder.snapshot() != plain.snapshot():
                yield f"{kind} after {before!r}: {decoder.snapshot()}, as bytes {plain.snapshot()}"
        for before in (b"data: x", b"other: x", b"data: " + b"x" * 600):
            for long in (b"", b"x" * 3_000, b"x" * 70_000):
                for after in (b"\n", b"\n\n", b"\n\ndata: b", b"\r", None):
                    decoder = machine.decoder.SSEDecoder()
                    decoder.feed(before)
                    decoder.feed(view)
                    said = _raised(_rest, decoder, long, after)
                    if said != words:
                        yield f"{kind} after {before[:9]!r}, then {after!r}: {said}"


def _rest(decoder: Any, long: bytes, after: bytes | None) -> None:
    """Feed what is left, and the line end or the end."""
    decoder.feed(long)
    if after is None:
        decoder.finish()
    else:
        decoder.feed(after)


def _ended(machine: SimpleNamespace) -> Iterator[str]:
    """The end can be told again; an error is raised again, by whatever is called."""
    words = "feed after finish: the stream has ended; use a new decoder or reset()"
    for end in ENDS[2:-1]:
        decoder = machine.decoder.SSEDecoder()
        fed(decoder, end)
        if decoder.finish() != [] or decoder.finish() != []:
            yield f"the end after {end!r} gives events"
        for _ in range(2):
            found = _raised(decoder.feed, b"\n")
            if found != f"StreamEndedError: {words}":
                yield f"after {end!r} and the end: {found}"
        if decoder.finish() != []:
            yield f"the end after {end!r}, told once more, gives events"
    decoder = machine.decoder.SSEDecoder()
    said = {
        _raised(decoder.feed, b"a\xff\n"),
        _raised(decoder.feed, b"b\n"),
        _raised(decoder.finish),
    }
    if len(said) != 1 or None in said:
        yield f"after a wrong byte: {said}"
    error = _caught(decoder.finish)
    depth = _depth(error)
    if error is not _caught(decoder.finish) or _depth(error) > depth:
        yield "an error that is raised again is another one, or grows"
    yield from _not_the_same_again(machine.errors.StreamEndedError())
    # What went wrong is kept as an error, not as bytes.
    if decoder.snapshot()[2:] != (machine.errors.InvalidUtf8Error, str(error)):
        yield f"its snapshot after an error: {decoder.snapshot()}"


def _snapshots(machine: SimpleNamespace) -> Iterator[str]:
    """Decoders that some bytes can tell apart have different snapshots."""
    wires = (
        b"",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r",
        b"retry: 5\n",
        b"id: 1\n",
        b"id: 7\n\n",
        b"id: 8\n\n",
        b"data: a",
        b"data: b",
        b"\n\n",
        b"retry: 6\n",
    )
    found: dict[object, bytes] = {}
    for wire in wires:
        decoder = machine.decoder.SSEDecoder()
        decoder.feed(wire)
        other = found.setdefault(repr(decoder.snapshot()), wire)
        if other is not wire:
            yield f"after {wire!r} its snapshot is that after {other!r}"


def _streams(machine: SimpleNamespace) -> Iterator[str]:
    """A whole stream at once gives what its chunks give, and the same error."""
    event = b"id: 1\ndata: a\r\n\r\ndata: bcdefgh\n\ndata: i\n\n"
    wires = [before + event + end for before in (b"", b"\xef\xbb\xbf") for end in ENDS]
    wires += [event + wrong + event for wrong in (b"data: \xff\n", b"x" * 70, b"\n: \r\r")]
    for wire in wires:
        for size in (1, 2, 5, 9, 30, 400):
            for kind in (bytes, bytearray):
                chunks = [kind(wire[at : at + size]) for at in range(0, len(wire), size)]
                whole, fed_one = (machine.decoder.SSEDecoder(line_bytes_max=64) for _ in range(2))
                got: list[tuple[object, ...]] = []
                want: list[tuple[object, ...]] = []
                raised = _raised(_streamed, whole, chunks, got)
                expected = _raised(_fed_whole, fed_one, chunks, want)
                if (got, raised, whole.snapshot()) != (want, expected, fed_one.snapshot()):
                    yield f"{wire!r} in chunks of {size}: {got}, {raised}, fed: {want}, {expected}"


def _streamed(decoder: Any, chunks: list[bytes], found: list[tuple[object, ...]]) -> None:
    for event in decoder.stream(chunks):
        found.append(told(event))  # noqa: PERF401 # those before an error count, too


def _fed_whole(decoder: Any, chunks: list[bytes], found: list[tuple[object, ...]]) -> None:
    for chunk in chunks:
        found += map(told, decoder.feed(chunk))
    decoder.finish()


def _retry(machine: SimpleNamespace) -> Iterator[str]:
    for digits, expected in (
        ("0", 0),
        ("007", 7),
        ("9" * 19, 10**19 - 1),
        ("0" * 30 + "8", 8),
        ("9" * 20, 40),
        ("1" * 5_000, 40),
        ("", 40),
        ("+5", 40),
        ("\u0665", 40),
        ("\u00b2", 40),
    ):
        decoder = machine.decoder.SSEDecoder()
        fed(decoder, f"retry: 40\nretry: {digits}\n".encode(), 100)
        if decoder.retry_ms != expected:
            yield f"{digits[:40]}: {decoder.retry_ms}"


def _frozen(machine: SimpleNamespace) -> Iterator[str]:
    """What was handed out stays as it was."""
    decoder = machine.decoder.SSEDecoder(comments=True)
    for item in (*decoder.feed(b": a\ndata: b\n\nc"), decoder.unfinished):
        for name in item.__struct_fields__:
            if _raised(setattr, item, name, "other") is None:
                yield f"{name} of {type(item).__name__} can be changed"


def _raised(function: Callable[..., object], *arguments: object) -> str | None:
    error = _caught(function, *arguments)
    return error if error is None else f"{type(error).__name__}: {error}"


def _caught(function: Callable[..., object], *arguments: object) -> Exception | None:
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001 # which one is part of what is expected
        return error
    return None


def _depth(error: Exception | None) -> int:
    """How many frames its traceback has."""
    depth, trace = 0, error and error.__traceback__
    while trace:
        depth, trace = depth + 1, trace.tb_next
    return depth
