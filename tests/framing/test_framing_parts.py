"""The decoder beside its events: what it tells, costs and refuses, and every partition."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from doneness.generators.checks.framing_parts import FRAMING_PARTS, own_decoder
from doneness.machine.framing import SSEDecoder, errors


@pytest.mark.parametrize("part", FRAMING_PARTS)
def test_the_decoder_does_what_it_should(part):
    """Nothing unexpected."""
    assert list(FRAMING_PARTS[part](own_decoder()))[:5] == []


class Forgetful(SSEDecoder):
    """Loses a chunk that is one colon or one y, takes two calls more, and ends without end."""

    def feed(self, chunk):
        """Feed it, twice told."""
        return super().feed(b"" if chunk in (b":", b"y") else chunk)

    def finish(self):
        """End nothing."""
        return []


@pytest.mark.parametrize("part", FRAMING_PARTS)
def test_a_part_finds_what_is_wrong(part):
    """Of a decoder that is wrong in each of them."""
    wrong = SimpleNamespace(decoder=SimpleNamespace(SSEDecoder=Forgetful), errors=errors)
    assert next(FRAMING_PARTS[part](wrong), None) is not None
