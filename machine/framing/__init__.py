"""SSE framing: bytes in, events out (contract §5)."""
