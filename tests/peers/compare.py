"""Every peer on every case: agrees, differs (and how), refuses, or depends on the chunks.

Run by `make peers`. Each case goes in whole, byte by byte and cut in two; promptness
is a case of its own. What is expected comes with the cases; invalid bytes become U+FFFD.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import chromium
from python_peers import OURS, PEERS, Peer

from doneness.fixtures.framing_cases import FramingCase, framing_cases

HERE = Path(__file__).parent
JAVASCRIPT = ("eventsource-parser", "undici")
PROMPT = {"LF LF": b"\n\n", "CRLF CRLF": b"\r\n\r\n", "CR CR": b"\r\r", "LF CR": b"\n\r"}
"""Ends of an event whose last byte must bring it out."""


def cuts(wire: bytes) -> list[list[bytes]]:
    """Whole, byte by byte, and in two: everywhere, or at some twenty places of a longer stream."""
    step = max(1, len(wire) // 20)
    return [
        [wire],
        [wire[at : at + 1] for at in range(len(wire))],
        *([wire[:at], wire[at:]] for at in range(0, len(wire) + 1, step)),
    ]


def verdict(case: FramingCase, outcomes: Iterable[object]) -> str:
    """One word or a few for a case, from what came of each cut."""
    distinct = {repr(outcome): outcome for outcome in outcomes}
    if len(distinct) > 1:
        return "depends on the chunks"
    [outcome] = distinct.values()
    if isinstance(outcome, str):
        return f"refuses ({outcome})"
    got, wanted = list(outcome), list(case.events)
    if got == wanted:
        return "agrees"
    if len(got) > len(wanted):
        return f"differs ({len(got)} events for {len(wanted)})"
    if len(got) < len(wanted):
        return f"differs ({len(got)} of {len(wanted)} events)"
    return "differs (in what the events say)"


def of_python(peer: Peer, chunks: Sequence[bytes]) -> object:
    """The events, or the name of what was raised."""
    try:
        return [tuple(event) for event in peer.events(chunks)]
    except Exception as error:  # noqa: BLE001 # whatever a peer raises is its answer
        return type(error).__name__


def of_javascript(peer: str, streams: list[list[bytes]]) -> list:
    """For each stream the events by chunk, or what was thrown."""
    encoded = [[b64encode(chunk).decode() for chunk in chunks] for chunks in streams]
    answer = subprocess.run(
        ["node", "javascript/frame.mjs"],
        cwd=HERE,
        input=json.dumps({"peer": peer, "streams": encoded}).encode(),
        capture_output=True,
        check=True,
    )
    return json.loads(answer.stdout)


def flat(lists: object) -> object:
    """The events of all chunks."""
    if isinstance(lists, str):
        return lists
    return [tuple(event) for events in lists for event in events]


def prompt_python(peer: Peer, end: bytes) -> str:
    """When the event is out: with its last byte, later, or never."""
    wire = b"data: x" + end
    taken = [0]

    def chunks() -> Iterable[bytes]:
        for at in range(len(wire) + 2):
            taken[0] = at
            yield (wire + b": \n")[at : at + 1]

    try:
        for _event in peer.events(chunks()):
            late = taken[0] - (len(wire) - 1)
            return "prompt" if late <= 0 else f"{late} bytes late"
    except Exception as error:  # noqa: BLE001 # likewise
        return type(error).__name__
    return "never"


def prompt_javascript(peer: str, end: bytes) -> str:
    """Likewise."""
    wire = b"data: x" + end
    fed = wire + b": \n"
    [lists] = of_javascript(peer, [[fed[at : at + 1] for at in range(len(fed))]])
    for at, events in enumerate(lists):
        if events:
            late = at - (len(wire) - 1)
            return "prompt" if late <= 0 else f"{late} bytes late"
    return "never"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--details", action="store_true", help="every peer x case that differs")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # some peers complain of every strange value
    cases = list(framing_cases())
    table: dict[str, dict[str, str]] = {}
    for peer in (OURS, *PEERS):
        table[f"{peer.name} {peer.version}"] = {
            case.name: verdict(case, (of_python(peer, chunks) for chunks in cuts(case.wire)))
            for case in cases
        }
    versions = json.loads((HERE / "javascript/package.json").read_text())["dependencies"]
    scripts = JAVASCRIPT if shutil.which("node") else ()
    for name in scripts:
        streams = [(case, chunks) for case in cases for chunks in cuts(case.wire)]
        answers = of_javascript(name, [chunks for _, chunks in streams])
        outcomes: dict[str, list[object]] = {}
        for (case, _), lists in zip(streams, answers, strict=True):
            outcomes.setdefault(case.name, []).append(flat(lists))
        table[f"{name} {versions[name]}"] = {
            case.name: verdict(case, outcomes[case.name]) for case in cases
        }
    streams = [(case, chunks) for case in cases for chunks in few(case.wire)]
    shown = chromium.frames([(chunks, [one[0] for one in case.events]) for case, chunks in streams])
    if shown is None:
        print("left out: Chromium, which is not installed")
    else:
        seen: dict[str, list[object]] = {}
        for (case, _), events in zip(streams, shown, strict=True):
            seen.setdefault(case.name, []).append(events)
        table["Chromium (EventSource)"] = {
            case.name: verdict(case, seen[case.name]) for case in cases
        }
    print(f"{len(cases)} cases, each whole, byte by byte and at up to 40 two-way splits\n")
    print("| peer | agrees | differs | refuses | depends on the chunks |\n|---|---|---|---|---|")
    for peer_name, answers in table.items():
        kinds = Counter(answer.split(" (")[0] for answer in answers.values())
        columns = ("agrees", "differs", "refuses", "depends on the chunks")
        print(f"| {peer_name} | {' | '.join(str(kinds[column]) for column in columns)} |")
    print(f"\n| promptness | {' | '.join(PROMPT)} |\n|---|{'---|' * len(PROMPT)}")
    for peer in (OURS, *PEERS):
        if peer.name == "aiohttp-sse-client2":
            continue  # its reader is given all chunks at once here
        print(f"| {peer.name} | {' | '.join(prompt_python(peer, e) for e in PROMPT.values())} |")
    for name in scripts:
        print(f"| {name} | {' | '.join(prompt_javascript(name, e) for e in PROMPT.values())} |")
    if options.details:
        print("\n| case | peer | |\n|---|---|---|")
        for case in cases:
            for peer_name, answers in table.items():
                if answers[case.name] != "agrees":
                    print(f"| {case.name} | {peer_name} | {answers[case.name]} |")


def few(wire: bytes) -> list[list[bytes]]:
    """Cuts for a browser, where each is a connection: whole, byte by byte, some in two."""
    step = max(1, len(wire) // 4)
    bytewise = [wire[at : at + 1] for at in range(len(wire))] if len(wire) < 400 else [wire]
    return [[wire], bytewise, *([wire[:at], wire[at:]] for at in range(1, len(wire), step))]


if __name__ == "__main__":
    main()
