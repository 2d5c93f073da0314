"""The encoder writes what the decoder reads back, and refuses what cannot be framed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doneness.fixtures.framing_cases import framing_cases
from doneness.machine.framing import (
    Event,
    FramingError,
    SSEDecoder,
    SSEEncoder,
    encode_comment,
    encode_event,
    encode_retry,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"))
EVENTS = st.builds(
    Event,
    data=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")),
    event=TEXT.filter(bool),
    id=TEXT,
)


@given(st.lists(EVENTS), st.integers(1, 9))
def test_what_is_written_is_read_back(events, size):
    """Any events, in order, ids and types included, whatever the chunks."""
    encoder = SSEEncoder()
    wire = b"".join(map(encoder.encode, events))
    decoder = SSEDecoder()
    found = []
    for at in range(0, len(wire), size):
        found += decoder.feed(wire[at : at + size])
    assert [*found, *decoder.finish()] == events


@pytest.mark.parametrize("case", list(framing_cases()), ids=lambda case: case.name)
def test_every_event_that_the_decoder_reads_can_be_written(case):
    """All events of all cases, written anew, frame the same."""
    events = [Event(data, event, last_id) for event, data, last_id in case.events]
    encoder = SSEEncoder()
    assert SSEDecoder().feed(b"".join(map(encoder.encode, events))) == events


@pytest.mark.parametrize(
    ("event", "names"),
    [
        (Event("x", id="a\nb"), "LF"),
        (Event("x", id="a\rb"), "CR"),
        (Event("x", id="a\0b"), "NUL"),
        (Event("x", event="a\nb"), "LF"),
        (Event("x", event="a\rb"), "CR"),
        (Event("x", event=""), "empty"),
        (Event("a\rb"), "CR"),
        (Event("\ud800"), "surrogate"),
        (Event("x", id="\udfff"), "surrogate"),
    ],
)
def test_what_cannot_be_framed_is_refused(event, names):
    """With what is wrong; and the encoder is as it was."""
    encoder = SSEEncoder()
    encoder.encode(Event("before", id="1"))
    with pytest.raises(FramingError, match=names):
        encoder.encode(event)
    assert encoder.last_event_id == "1"


def test_an_id_is_written_where_it_changes():
    """Also back to none."""
    assert encode_event(Event("x")) == b"data: x\n\n"
    assert encode_event(Event("x", id="1"), after_id="1") == b"data: x\n\n"
    assert encode_event(Event("x"), after_id="1") == b"id: \ndata: x\n\n"


def test_comments_and_retry():
    """A heartbeat and a reconnection time read back; what cannot be one is refused."""
    decoder = SSEDecoder(comments=True)
    [comment] = decoder.feed(encode_comment(" ping") + encode_retry(1500))
    assert (comment.comment, decoder.retry_ms) == (" ping", 1500)
    for wrong in ("a\nb", "a\rb", "\ud800"):
        with pytest.raises(FramingError):
            encode_comment(wrong)
    for wrong in (-1, 10**19):
        with pytest.raises(FramingError, match="retry"):
            encode_retry(wrong)
