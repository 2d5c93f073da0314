"""The producer's numbers are its own."""

from __future__ import annotations

import pytest

from doneness.machine import Producer


def test_nobody_else_sets_the_number():
    producer = Producer("run-A")
    producer.emit("text.delta", text="a")
    with pytest.raises(AttributeError):
        producer.last_seq = 7
    assert producer.last_seq == 1
    assert producer.emit("approval.wait")["id"] == "run-A:2"
