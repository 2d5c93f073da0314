"""What a decoder is given besides plain bytes, and after the end of its stream."""

from __future__ import annotations

import pytest

from doneness.machine.framing import InvalidUtf8Error, SSEDecoder, StreamEndedError

STREAM = b"data: one\n\ndata: two\n\ndata: three\r\n\r\ndata: fo"
REST = b"ur\n\ndata: five\n\ndata: six\n\n"


@pytest.mark.parametrize("begun", [b"", b"data: x", b"data: x\n", b"data: x\r", b"id: 1", b"\xef"])
@pytest.mark.parametrize("more", [b"", b"y", b"y\n\n", b"\n\n", b"\r\n\r\n", b"y\n\ndata: z\n\n"])
def test_feeding_after_the_end_is_an_error(begun, more):
    """No late byte completes an event that the end left unfinished."""
    decoder = SSEDecoder("replace")
    decoder.feed(begun)
    assert decoder.finish() == []
    for _ in range(2):
        with pytest.raises(StreamEndedError):
            decoder.feed(more)
    assert decoder.finish() == []


def test_feeding_after_a_truncated_character_raises_the_same_error():
    """The byte that would have completed the character comes too late."""
    decoder = SSEDecoder()
    decoder.feed(b"data: x\xc3")
    with pytest.raises(InvalidUtf8Error):
        decoder.finish()
    for late in (b"\xa9\n\n", b"\xa9\n\ndata: y\n\n"):
        with pytest.raises(InvalidUtf8Error):
            decoder.feed(late)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
@pytest.mark.parametrize("cut", range(0, len(STREAM + REST), 5))
def test_any_bytes_like_chunk_counts(kind, cut):
    """Also where a chunk begins within a value."""
    wire = STREAM + REST
    decoder = SSEDecoder()
    buffers = [bytearray(wire[:cut]), bytearray(wire[cut:])]
    events = []
    for buffer in buffers:
        events += decoder.feed(kind(buffer) if kind is memoryview else buffer)
        buffer[:] = b"?" * len(buffer)  # a buffer that is used again
    assert [event.data for event in events] == ["one", "two", "three", "four", "five", "six"]


@pytest.mark.parametrize("begun", [b"", b"data: x"])
@pytest.mark.parametrize("chunk", ["data: y\n\n", None, 5, [10], [1]])
def test_what_is_not_bytes_is_named(begun, chunk):
    """Anywhere in a stream."""
    decoder = SSEDecoder()
    decoder.feed(begun)
    with pytest.raises(TypeError, match=f"feed takes bytes, not {type(chunk).__name__}"):
        decoder.feed(chunk)


@pytest.mark.parametrize("before", [b"", b"data: x", b"data: " + b"x" * 600, b"data: x\r"])
@pytest.mark.parametrize("kind", ["c", "b", "H"])
def test_elements_that_are_not_bytes_hide_no_line_end(before, kind):
    """A view of another kind is read as its bytes, or refused before its line counts."""
    late = memoryview(b"y\n\n data: z\n\n\n").cast(kind)
    whole = before + bytes(late)
    plain, decoder = SSEDecoder(), SSEDecoder()
    expected = plain.feed(whole) + plain.feed(b"data: end\n\n")
    found = decoder.feed(before)
    hides = False
    try:
        found += decoder.feed(late)
        found += decoder.feed(b"data: end\n\n")
    except TypeError:
        hides = True
    if hides:
        assert found == []
        for step in (decoder.finish, lambda: decoder.feed(b"\n")):
            with pytest.raises(TypeError, match=r"pass bytes\(chunk\)"):
                step()
    else:
        assert found == expected


@pytest.mark.parametrize("kind", ["H", "f", "?"])
def test_a_long_line_hides_no_line_end_either(kind):
    """It is put aside piece by piece; each piece is looked at before."""
    decoder = SSEDecoder()
    late = memoryview(b"y\n\n data: z" + b"\n" * 9).cast(kind)
    for chunk in (b"other: ", b"x" * 400, late):
        decoder.feed(chunk)
    rest = [b"x" * 3_000, b"x" * 3_000, b"\n"]
    with pytest.raises(TypeError, match=r"pass bytes\(chunk\)"):
        list(map(decoder.feed, rest))


def test_views_with_gaps_or_rows_are_read_as_their_bytes():
    """As `bytes` reads them."""
    wire = b"data: abc\n\n"
    spread = bytes(byte for pair in zip(wire, b"?" * len(wire), strict=True) for byte in pair)
    rows = memoryview(wire + b":\n\n\n").cast("B", (3, 5))
    for chunk in (memoryview(spread)[::2], rows):
        for before in (b"", b"data: x\n\n"):
            decoder = SSEDecoder()
            decoder.feed(before)
            assert [event.data for event in decoder.feed(chunk)] == ["abc"]
