"""Every peer on every case: agrees, differs (and how), refuses, or depends on the chunks.

Run by `make peers`. Each case goes in whole, byte by byte and at every two-way split (Chromium,
where each is a connection, gets some of the splits); promptness is a case of its own. What is
expected comes with the cases; invalid bytes become U+FFFD.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import chromium
import javascript_peers
from python_peers import OURS, PEERS, Peer

from doneness.fixtures.framing_cases import FramingCase, framing_cases

PYTHON: Final = (OURS, *PEERS)
CHROMIUM: Final = "Chromium (EventSource)"
KINDS: Final = ("agrees", "differs", "refuses", "depends on the chunks")
PROMPT: Final = {"LF LF": b"\n\n", "CRLF CRLF": b"\r\n\r\n", "CR CR": b"\r\r", "LF CR": b"\n\r"}
"""Ends of an event whose last byte must bring it out."""
AFTER: Final = b": \n"
"""What comes after that byte."""
SPLITS: Final = 4
"""So many two-way splits of a case are connections for Chromium."""


def cuts(wire: bytes, step: int = 1) -> list[list[bytes]]:
    """Whole, byte by byte, and in two."""
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


def of_javascript(peer: str, chunks: Sequence[Sequence[bytes]]) -> Iterator[object]:
    """For each stream the events, or what was thrown."""
    for lists in javascript_peers.frame(peer, chunks):
        if isinstance(lists, str):
            yield lists
        else:
            yield [tuple(event) for events in lists for event in events]


def of_chromium(cases: Sequence[FramingCase]) -> dict[str, str] | None:
    """What a real browser makes of the cases; None where there is none."""
    streams = [
        (case, chunks) for case in cases for chunks in cuts(case.wire, len(case.wire) // SPLITS + 1)
    ]
    shown = chromium.frames([(chunks, [one[0] for one in case.events]) for case, chunks in streams])
    if shown is None:
        return None
    outcomes: dict[str, list[object]] = {}
    for (case, _), events in zip(streams, shown, strict=True):
        outcomes.setdefault(case.name, []).append(events)
    return {case.name: verdict(case, outcomes[case.name]) for case in cases}


def compared(cases: Sequence[FramingCase]) -> dict[str, dict[str, str]]:
    """For each peer, by name and version, a verdict for each case."""
    table = {}
    for peer in (OURS, *PEERS):
        table[f"{peer.name} {peer.version}"] = {
            case.name: verdict(case, (of_python(peer, chunks) for chunks in cuts(case.wire)))
            for case in cases
        }
    for name, version in javascript_peers.decoders().items():
        table[f"{name} {version}".strip()] = {
            case.name: verdict(case, of_javascript(name, cuts(case.wire))) for case in cases
        }
    shown = of_chromium(cases)
    if shown is not None:
        table[CHROMIUM] = shown
    return table


def prompt_python(peer: Peer, end: bytes) -> str:
    """When the event is out: with its last byte, later, or never."""
    wire = b"data: x" + end
    taken = [0]

    def chunks() -> Iterator[bytes]:
        fed = wire + AFTER
        for at in range(len(fed)):
            taken[0] = at
            yield fed[at : at + 1]

    try:
        for _event in peer.events(chunks()):
            return _late(taken[0] - (len(wire) - 1))
    except Exception as error:  # noqa: BLE001 # likewise
        return type(error).__name__
    return "never"


def prompt_javascript(peer: str, end: bytes) -> str:
    """Likewise."""
    wire = b"data: x" + end
    fed = wire + AFTER
    [lists] = javascript_peers.frame(peer, [[fed[at : at + 1] for at in range(len(fed))]])
    for at, events in enumerate(lists):
        if events:
            return _late(at - (len(wire) - 1))
    return "never"


def _late(late_bytes: int) -> str:
    if late_bytes <= 0:
        return "prompt"
    return f"{late_bytes} byte{'s' * (late_bytes > 1)} late"


def promptness() -> dict[str, list[str]]:
    """For each peer and each end of an event, when the event is out."""
    table = {peer.name: [prompt_python(peer, end) for end in PROMPT.values()] for peer in PYTHON}
    for name in javascript_peers.decoders():
        table[name] = [prompt_javascript(name, end) for end in PROMPT.values()]
    told = chromium.prompt([b"data: x" + end for end in PROMPT.values()], AFTER)
    if told is not None:
        table[CHROMIUM] = told
    return table


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--details", action="store_true", help="every peer x case that differs")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # some peers complain of every strange value
    cases = list(framing_cases())
    table = compared(cases)
    for missing, present in (
        ("the JavaScript peers: no Node, or `npm ci` did not bring them", len(table) > len(PYTHON)),
        ("Chromium, which is not installed", CHROMIUM in table),
    ):
        if not present:
            print(f"left out: {missing}\n")
    print(f"{len(cases)} cases, each whole, byte by byte and at every two-way split")
    print(f"(Chromium: at up to {SPLITS} of the splits)\n")
    print(f"| peer | {' | '.join(KINDS)} |\n|---|{'---|' * len(KINDS)}")
    for name, answers in table.items():
        kinds = Counter(answer.split(" (")[0] for answer in answers.values())
        print(f"| {name} | {' | '.join(str(kinds[kind]) for kind in KINDS)} |")
    print(f"\n| promptness | {' | '.join(PROMPT)} |\n|---|{'---|' * len(PROMPT)}")
    for name, row in promptness().items():
        print(f"| {name} | {' | '.join(row)} |")
    if options.details:
        print("\n| case | peer | |\n|---|---|---|")
        for case in cases:
            for name, answers in table.items():
                if answers[case.name] != "agrees":
                    print(f"| {case.name} | {name} | {answers[case.name]} |")
    print()


if __name__ == "__main__":
    main()
