"""The JavaScript peers and our decoder in Node: one process for many streams, or for a speed."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

OURS = "doneness.mjs"
_FOLDER = Path(__file__).parent / "javascript"


def versions() -> dict[str, str]:
    """The peers that can run here, with their versions; none without Node or their packages."""
    return {name: version for name, version in decoders().items() if name != OURS}


def decoders() -> dict[str, str]:
    """Likewise, and ours, which needs no packages."""
    if shutil.which("node") is None:
        return {}
    wanted = json.loads((_FOLDER / "package.json").read_text())["dependencies"]
    found = {
        name: version
        for name, version in wanted.items()
        if (_FOLDER / "node_modules" / name / "package.json").exists()
    }
    return {OURS: "", **found}


def frame(peer: str, streams: Sequence[Sequence[bytes]]) -> list[Any]:
    """For each stream the events by chunk, or what was thrown."""
    encoded = [[b64encode(chunk).decode() for chunk in chunks] for chunks in streams]
    return _node({"peer": peer, "streams": encoded})


def speed(peer: str, event: bytes, times: int, end: str, step: int, rounds: int) -> dict[str, Any]:
    """CPU seconds of each round for a stream of one event many times, for ours, and for a floor."""
    asked = {"times": times, "end": end, "step": step, "rounds": rounds}
    return _node({"peer": peer, "speed": {"event": b64encode(event).decode(), **asked}})


def _node(asked: dict[str, Any]) -> Any:
    answer = subprocess.run(
        ["node", "frame.mjs"],
        cwd=_FOLDER,
        input=json.dumps(asked).encode(),
        capture_output=True,
        check=False,
    )
    if answer.returncode:
        raise RuntimeError(f"{asked['peer']} in Node: {answer.stderr.decode(errors='replace')}")
    return json.loads(answer.stdout)
