"""The producer's short way for text says what the long way says."""

from __future__ import annotations

from doneness.machine import Producer


def test_text_is_emitted_the_same_both_ways():
    long, short = Producer("run-A"), Producer("run-A")
    for text in ("", "合成", "x" * 1000):
        assert short.emit_text(text) == long.emit("text.delta", text=text)
    assert short.emit("approval.wait") == long.emit("approval.wait")
    assert short.last_seq == long.last_seq == 4
    assert type(short.emit_text("")["kind"]) is str
