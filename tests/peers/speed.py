"""How fast: megabytes a second as ratios to one-shot splitting, medians of interleaved rounds."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable
from typing import Final

from python_peers import OURS, PEERS, Peer

MB: Final = 2**20


def _repeated(event: bytes, size: int) -> bytes:
    return event * max(1, size // len(event))


def _chat(content: str, end: str) -> bytes:
    chunk = {
        "id": "chatcmpl-8b1f0c6e2d9a4f7c",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": "some-model-large",
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}],
    }
    written = json.dumps(chunk, ensure_ascii=False, separators=(",", ":"))
    return f"data: {written}{end}{end}".encode()


STREAMS: Final = {
    "chat": lambda size: _repeated(_chat(" the streaming agent says", "\n").ljust(1), size),
    "CRLF": lambda size: _repeated(_chat(" the streaming agent says", "\r\n"), size),
    "Chinese": lambda size: _repeated(_chat("合成巡检：已检查 2 项，继续 checking…", "\n"), size),
    "64 KB": lambda size: _repeated(b"data: " + b"x" * (64 * 1024 - 8) + b"\n\n", size),
}
CHUNKS: Final = {"16 KB": 16 * 1024, "1 KB": 1024, "64 B": 64}


def floor(chunks: Iterable[bytes]) -> int:
    """The least that a decoder could do, if it had all bytes at once."""
    found = [part.decode() for part in b"".join(chunks).split(b"\n\n")]
    return len(found)


def floor_crlf(chunks: Iterable[bytes]) -> int:
    """Likewise."""
    return len([part.decode() for part in b"".join(chunks).split(b"\r\n\r\n")])


def _count(peer: Peer, chunks: list[bytes]) -> int:
    count = 0
    for _event in peer.decode(chunks):
        count += 1
    return count


def measure(stream: str, chunk: str, size: int, rounds: int, peers: list[Peer]) -> dict[str, float]:
    """CPU seconds, the median of the rounds, for each peer."""
    wire = STREAMS[stream](size)
    step = CHUNKS[chunk]
    chunks = [wire[at : at + step] for at in range(0, len(wire), step)]
    runs = {"floor": floor_crlf if stream == "CRLF" else floor}
    runs |= {peer.name: (lambda chunks, peer=peer: _count(peer, chunks)) for peer in peers}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            started = time.process_time()
            run(chunks)
            seconds[name].append(time.process_time() - started)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    peers = [OURS, *(peer for peer in PEERS if options.only in peer.name)]
    for stream in STREAMS:
        for chunk in CHUNKS:
            size = int(options.megabytes * MB)
            found = measure(stream, chunk, size, options.rounds, peers)
            base = found["floor"]
            best = min(value for name, value in found.items() if name not in ("floor", "doneness"))
            ratio = best / found["doneness"]
            cells = "  ".join(f"{n} {base / s:.2f}" for n, s in found.items() if n != "floor")
            print(f"{stream:8} {chunk:6} ours/best {ratio:.2f}  {cells}", flush=True)


if __name__ == "__main__":
    main()
