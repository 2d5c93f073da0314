"""The decoder beyond its declaration: limits, long lines, memory, comments, misuse, helpers."""

from __future__ import annotations

import asyncio
import pickle
import time
import tracemalloc
from functools import partial
from itertools import cycle
from random import Random

import httpx
import pytest

from doneness.fixtures.framing_cases import framing_cases
from doneness.generators.checks.framing import (
    LONG_BYTES,
    Setting,
    check_regular,
    every_partition,
)
from doneness.generators.framing_oracle import FramingLimits
from doneness.generators.subjects.framing import PythonDecoder
from doneness.machine.framing import (
    Comment,
    Event,
    FramingError,
    InvalidUtf8Error,
    SSEDecoder,
    StreamEndedError,
    TooLongError,
    aiter_events,
    aresponse_events,
    iter_events,
    response_events,
)

CASES = list(framing_cases())
SHORT = FramingLimits(line_bytes_max=12, event_chars_max=3, id_chars_max=1, retry_digits_max=1)
LONGER = [case for case in CASES if len(case.wire) > 60]


@pytest.mark.parametrize("case", LONGER, ids=lambda case: case.name)
def test_every_partition_of_the_longer_cases(case):
    """P10 for the cases that `pytest -m model` leaves out; all but the longest cut everywhere."""
    assert every_partition(lambda: SSEDecoder("replace"), case.wire) is None
    assert sum(len(one.wire) > LONG_BYTES for one in CASES) == 1


@pytest.mark.parametrize(
    "setting", [Setting("replace", exact=True), Setting("strict", SHORT, True)]
)
def test_regular_streams_with_a_stranger(setting):
    """As in `pytest -m model`, with the other policy, and with limits that they pass."""
    limits = {} if setting.limits is not SHORT else SHORT._asdict()
    subject = PythonDecoder("SSEDecoder", partial(SSEDecoder, **limits))
    verdict = check_regular(subject, setting)
    assert verdict.divergence is None, verdict.divergence.table()


def test_the_tests_own_events_are_read_from_the_cases():
    """Every case has its events, `retry` and last id, as it says."""
    for case in CASES:
        decoder = SSEDecoder("replace")
        found = [(one.event, one.data, one.id) for one in decoder.feed(case.wire)]
        assert (case.name, tuple(found)) == (case.name, case.events)
        assert (case.name, decoder.retry_ms) == (case.name, case.retry_ms)
        if case.last_event_id is not None:
            assert (case.name, decoder.last_event_id) == (case.name, case.last_event_id)


def test_events_before_a_wrong_byte_are_returned_and_the_next_call_raises():
    """No event is lost, and the error is for good, until reset."""
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\n\ndata: \xff\n\ndata: c\n\n") == [
        Event("a"),
        Event("b"),
    ]
    for call in (lambda: decoder.feed(b"data: d\n\n"), decoder.finish, lambda: decoder.feed(b"")):
        with pytest.raises(InvalidUtf8Error, match="byte 24 ") as caught:
            call()
    assert (caught.value.offset, caught.value.start, caught.value.object) == (24, 24, b"\xff")
    decoder.reset()
    assert decoder.feed(b"data: d\n\n") == [Event("d")]


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"data: a", b": x\r\ny\rdata: a\n"])
def test_the_place_of_a_wrong_byte_counts_from_the_start_of_the_stream(before, end):
    """Whatever stands before it, and whatever the chunks."""
    wire = before + end + b"data: \xe4\xbd\xa0\xe4\xbd" + end
    place = wire.rindex(b"\xe4")
    for size in (1, 2, 5, len(wire)):
        decoder = SSEDecoder()
        chunks = [wire[at : at + size] for at in range(0, len(wire), size)]
        with pytest.raises(InvalidUtf8Error) as caught:
            fed(decoder, chunks)
        assert caught.value.offset == place


def fed(decoder, chunks):
    """Feed it all, and the end."""
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    decoder.finish()
    return events


@pytest.mark.parametrize(
    ("limit", "good", "bad"),
    [
        ("line_bytes_max", b"data: 1234\n\n", b"data: 12345\n\n"),
        ("event_chars_max", b"data: 123456789\n\n", b"data: 1234567890\n\n"),
        ("event_chars_max", b"data:12345\ndata\n\n", b"data:12345\ndata:6789\n\n"),
        ("id_chars_max", b"id:1234567890\n\n", b"id:12345678901\n\n"),
    ],
)
def test_a_limit_ends_in_an_error_that_names_it(limit, good, bad):
    """At the limit all is well; one more is an error, whole and byte by byte."""
    value = 9 if limit == "event_chars_max" else 10
    for size in (1, 3, 100):
        chunks = [good[at : at + size] for at in range(0, len(good), size)]
        fed(SSEDecoder(**{limit: value}), chunks)
        chunks = [bad[at : at + size] for at in range(0, len(bad), size)]
        with pytest.raises(TooLongError, match=f"{limit}.*raise the limit") as caught:
            fed(SSEDecoder(**{limit: value}), chunks)
        assert (caught.value.limit, caught.value.maximum) == (limit, value)


def test_a_line_that_never_ends_is_refused_at_its_limit():
    """With the first byte too many, not when memory is full."""
    decoder = SSEDecoder(line_bytes_max=100_000)
    decoder.feed(b"x" * 60_000)
    decoder.feed(b"x" * 40_000)
    with pytest.raises(TooLongError):
        decoder.feed(b"x")


@pytest.mark.parametrize("digits", [20, 5_000, 100_000])
def test_a_retry_of_too_many_digits_is_ignored(digits):
    """As in browsers; the event comes out, and nothing raises."""
    decoder = SSEDecoder()
    wire = b"retry: 40\nretry: %b\ndata: x\n\n" % (b"9" * digits)
    assert decoder.feed(wire) == [Event("x")]
    assert decoder.retry_ms == 40
    decoder.feed(b"retry: %b7\n" % (b"0" * digits))
    assert decoder.retry_ms == 7


@pytest.mark.parametrize("size", [64, 1024, 16 * 1024, 10**8])
def test_several_megabytes_in_one_line(size):
    """Nothing is cut, nothing is lost."""
    text = "合成x" * 700_000
    wire = f"data: {text}\n\ndata: b\n\n".encode()
    decoder = SSEDecoder()
    events = fed(decoder, [wire[at : at + size] for at in range(0, len(wire), size)])
    assert [len(event.data) for event in events] == [len(text), 1]
    assert events[0].data == text


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_lines_of_any_length_in_chunks_of_any_size(errors):
    """Short, long and very long pieces of one line: the events and the places of errors agree."""
    random = Random(14)
    names = (b"data: ", b"data: ", b"data:", b"id: ", b"", b"retry: ", b"other: ")
    for _ in range(60):
        wire = b""
        for _ in range(random.randint(1, 8)):
            length = random.choice((0, 1, 60, 500, 520, 700, 2_100, 9_000))
            text = random.choice((b"x", "\u4f60".encode(), b"\xff" if errors == "strict" else b"y"))
            line = random.choice(names) + text * (length // len(text))
            wire += line + random.choice((b"\n", b"\n\n", b"\n\n", b"\r\n\r\n", b"\r"))
        cut, at = [], 0
        while at < len(wire):
            size = random.choice((1, 7, 64, 300, 700, 2_500, 20_000))
            cut.append(wire[at : at + size])
            at += size
        assert shown(errors, cut) == shown(errors, [wire])


def shown(errors, chunks):
    """The events, and what is known at the end."""
    decoder, events = SSEDecoder(errors), []
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        decoder.finish()
        events.append(decoder.unfinished)
    except ValueError as error:
        events.append(str(error))
    return events, decoder.retry_ms, decoder.last_event_id


@pytest.mark.parametrize("sizes", [(64,), (700,), (3_000,), (600, 3_000, 64), (3_000, 64)])
@pytest.mark.parametrize("name", [b"data: ", b"other: "])
def test_the_limit_of_a_line_is_exact_however_it_is_kept(sizes, name):
    """With the chunk that holds the first byte too many."""
    for limit in (5_000, 40_000):
        decoder, fed_bytes = SSEDecoder(line_bytes_max=limit), 0
        line = name + b"x" * limit
        for size in cycle(sizes):
            fed_bytes += size
            if fed_bytes > limit:
                break
            assert decoder.feed(line[fed_bytes - size : fed_bytes]) == []
        with pytest.raises(TooLongError):
            decoder.feed(line[fed_bytes - size : limit + 1])
        good = SSEDecoder(line_bytes_max=limit)
        good.feed(line[:limit])
        assert good.finish() == []


def test_long_lines_cost_as_much_per_byte_as_short_ones():
    """Lines of 1 MB in chunks of 1 KB: linear, by CPU time, best of some interleaved rounds."""
    total = 24 * 2**20
    seconds = {}
    for _ in range(3):
        for line in (1024, 2**20):
            wire = b"data: " + b"x" * (line - 8) + b"\n\n"
            chunks = [wire[at : at + 1024] for at in range(0, line, 1024)] * (total // line)
            decoder = SSEDecoder()
            started = time.process_time()
            for chunk in chunks:
                decoder.feed(chunk)
            took = time.process_time() - started
            seconds[line] = min(took, seconds.get(line, took))
    assert seconds[2**20] <= 1.3 * seconds[1024], seconds


@pytest.mark.parametrize("size", [1, 16, 64, 1024])
def test_memory_is_bounded_by_the_unfinished_event(size):
    """While a long line grows, it takes little more than its bytes; afterwards nothing is left."""
    line = b"data: " + b"x" * 2_000_000
    chunks = [line[at : at + size] for at in range(0, len(line), size)]
    decoder = SSEDecoder()
    tracemalloc.start()
    try:
        for chunk in chunks:
            decoder.feed(bytes(bytearray(chunk)))
        held, _ = tracemalloc.get_traced_memory()
        assert held < 2.5 * len(line)
        del chunk
        assert decoder.feed(b"\n\n") == [Event("x" * 2_000_000)]
        left, _ = tracemalloc.get_traced_memory()
        assert left < 100_000
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_stream():
    """Many events, nothing kept."""
    decoder = SSEDecoder()
    chunk = b"event: e\nid: 1\ndata: x\n: ping\n\n" * 50
    decoder.feed(chunk)
    tracemalloc.start()
    try:
        for _ in range(500):
            decoder.feed(chunk)
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()


def test_comments_are_handed_out_in_their_place_on_request():
    """Heartbeats; without the request there are none."""
    wire = b": ping\ndata: a\n:mid\n\n:\n"
    assert SSEDecoder().feed(wire) == [Event("a")]
    found = SSEDecoder(comments=True).feed(wire)
    assert found == [Comment(" ping"), Comment("mid"), Event("a"), Comment("")]


def test_bytes_in_other_clothes_are_copied():
    """A buffer may be used again by the caller."""
    for kind in (bytearray, memoryview):
        decoder = SSEDecoder()
        decoder.feed(b"data: ")
        decoder.feed(b"123456")
        buffer = bytearray(b"abc")
        decoder.feed(kind(buffer))
        buffer[:] = b"xyz"
        assert decoder.feed(bytearray(b"\n\n")) == [Event("123456abc")]


@pytest.mark.parametrize("wrong", ["text", None, 5, [1]], ids=repr)
def test_what_is_not_bytes_is_refused(wrong):
    """With what was expected."""
    for before in (b"", b"data: x"):
        decoder = SSEDecoder()
        decoder.feed(before)
        with pytest.raises(TypeError):
            decoder.feed(wrong)


def test_wrong_arguments_are_refused():
    """At once, by name."""
    with pytest.raises(ValueError, match="'ignore'"):
        SSEDecoder("ignore")
    for name in ("line_bytes_max", "event_chars_max", "id_chars_max", "retry_digits_max"):
        with pytest.raises(ValueError, match=name):
            SSEDecoder(**{name: 0})


def test_a_resumed_stream_starts_with_its_id():
    """And goes back to it at reset."""
    decoder = SSEDecoder(last_event_id="7")
    assert decoder.feed(b"data: a\n\nid: 8\ndata: b\n\n") == [
        Event("a", id="7"),
        Event("b", id="8"),
    ]
    decoder.reset()
    assert decoder.last_event_id == "7"


def test_errors_survive_pickling():
    """They cross processes with their words."""
    for error in (
        InvalidUtf8Error(b"\xff", 3, "invalid start byte"),
        TooLongError("id_chars_max", 4),
        StreamEndedError(),
    ):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_iterables_of_bytes():
    """Sync and async, with a decoder of one's own."""
    chunks = [b"id: 1\ndata: a\n", b"\ndata: b\n\nda", b"ta: left"]

    async def several():
        for chunk in chunks:
            yield chunk

    async def collected():
        return [event async for event in aiter_events(several())]

    expected = [Event("a", id="1"), Event("b", id="1")]
    decoder = SSEDecoder()
    assert list(iter_events(chunks, decoder)) == expected
    assert decoder.last_event_id == "1"
    assert asyncio.run(collected()) == expected
    with pytest.raises(InvalidUtf8Error):
        list(iter_events([b"data: a\n\n\xff"]))


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("size", [1, 3, 64, 10_000])
def test_a_stream_of_chunks_gives_what_feeding_them_gives(size, errors):
    """For every case: events, state and error; whatever kind of bytes the chunks are."""
    for case in CASES:
        parts = [case.wire[at : at + size] for at in range(0, len(case.wire), size)]
        for kind in (bytes, bytearray):
            decoder, found = SSEDecoder(errors), []
            try:
                for event in iter_events(map(kind, parts), decoder):
                    found.append(event)  # noqa: PERF402 # kept when it raises
                found.append(decoder.unfinished)
            except ValueError as error:
                found.append(str(error))
            assert (found, decoder.retry_ms, decoder.last_event_id) == shown(errors, parts)


def test_a_stream_of_chunks_keeps_pace():
    """Each event is out before the next chunk is asked for; no chunk is asked for early."""
    taken = []

    def chunks():
        for chunk in (b"data: a", b"\n", b"\n", b"data: b\n\nda", b"ta: c\n\n"):
            taken.append(chunk)
            yield chunk

    events = iter_events(chunks())
    assert taken == []
    assert [(next(events).data, len(taken)) for _ in range(3)] == [("a", 3), ("b", 4), ("c", 5)]


def test_httpx_responses():
    """Sync and async; what is no event stream is refused."""
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    content = b"data: a\n\ndata: b\n\n"

    async def collected():
        transport = httpx.MockTransport(
            lambda _request: httpx.Response(200, headers=headers, content=content)
        )
        async with (
            httpx.AsyncClient(transport=transport) as client,
            client.stream("GET", "http://127.0.0.1/") as response,
        ):
            return [event async for event in aresponse_events(response)]

    request = httpx.Request("GET", "http://127.0.0.1/")
    good = httpx.Response(200, headers=headers, content=content, request=request)
    assert list(response_events(good)) == [Event("a"), Event("b")]
    assert asyncio.run(collected()) == [Event("a"), Event("b")]
    with pytest.raises(FramingError, match="text/event-stream"):
        response_events(httpx.Response(200, json={}, request=request))
    with pytest.raises(httpx.HTTPStatusError):
        response_events(httpx.Response(500, headers=headers, request=request))
