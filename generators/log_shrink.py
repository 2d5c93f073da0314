"""Shrinking of recorded streams: from the log of a real run to a few events that still show it.

A log has numbers, ids and references among its events. Leaving an event out must not make the rest
illegal where it was legal, so what is shrunk is not the log but its *links*: this one is the next
event, that one repeats the third, this skips two numbers. After each deletion the envelopes are
written anew from the links. What is expected of them is then read from the declaration, as of any
stream, so a mistake in rewriting could not hide a fault or invent one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from doneness.generators.classify import Reader
from doneness.generators.moves import digest_of
from doneness.generators.oracle import END_OF_TRANSPORT, Move, Oracle

_REPEATS: Final = ("same_id_same_content", "same_id_other_content")


@dataclass(frozen=True, slots=True)
class Link:
    """One event of a log, by its relation to the others.

    Attributes:
        event: The event as it was recorded.
        move: What it was, seen from the declaration.
        skipped: For an admitted event: its number less the one that was next.
        repeats: For an event under a known id: the place of the event that had it first.
        own_id: Whether its id was the one that a producer gives.
    """

    event: Any
    move: Move
    skipped: int = 0
    repeats: int | None = None
    own_id: bool = True


def links(run: str, events: Sequence[object]) -> list[Link]:
    """The links of a log."""
    reader = Reader(Oracle(run))
    first_under: dict[str, int] = {}
    found = []
    for place, event in enumerate(events):
        move = reader.move(event)
        last = reader.oracle.last_seq
        if move.caught in _REPEATS:
            found.append(Link(event, move, repeats=first_under[_id_of(event)]))
        elif move.caught is None and event is not END_OF_TRANSPORT:
            id_ = _id_of(event)
            first_under[id_] = place
            own = id_ == f"{run}:{move.seq}"
            found.append(Link(event, move, skipped=move.seq - last - 1, own_id=own))
        else:
            found.append(Link(event, move))
        reader.oracle.take(move)
    return found


def rewritten(run: str, log: Sequence[Link], kept: Sequence[int]) -> list[object]:
    """The envelopes of the kept places, legal where they were.

    An event that repeats one which is not kept is left out as well.
    """
    written: dict[int, Any] = {}
    last = 0
    events: list[object] = []
    for place in kept:
        link = log[place]
        if link.move.trigger is None or link.event is END_OF_TRANSPORT:
            if link.repeats is None:
                events.append(link.event)
            elif link.repeats in written:
                events.append(_repeated(link, log[link.repeats], written[link.repeats]))
            continue
        seq = max(1, last + 1 + link.skipped)
        event = {**link.event, "seq": seq}
        if link.own_id:
            event["id"] = f"{run}:{seq}"
        written[place] = event
        events.append(event)
        last = max(last, seq)
    return events


def _repeated(link: Link, original: Link, now: dict[str, Any]) -> dict[str, Any]:
    if link.move.caught == "same_id_same_content":
        return {key: now[key] for key in link.event}
    event = {**link.event, "id": now["id"]}
    event["seq"] = max(1, now["seq"] + event["seq"] - original.event["seq"])
    return event


def _id_of(event: object) -> str:
    return str(event["id"]) if isinstance(event, dict) else ""


StillShows = Callable[[list[object]], bool]


@dataclass
class Shrinking:
    """A search for a short stream that still shows something.

    Iterate over `steps` to run it; each step yields the number of events left. It can be left at
    any step: `best` always holds the shortest stream that was found.
    """

    run: str
    log: list[Link]
    still_shows: StillShows
    kept: list[int] = field(default_factory=list)
    tries: int = 0

    def __post_init__(self) -> None:
        self.kept = self.kept or list(range(len(self.log)))

    @property
    def best(self) -> list[object]:
        """The shortest stream so far."""
        return rewritten(self.run, self.log, self.kept)

    def steps(self) -> Iterator[int]:
        """Shrink, step by step, until nothing more can be left out."""
        for sort, _ in Counter(map(self._sort, self.kept)).most_common():
            self._try([place for place in self.kept if self._sort(place) != sort])
            yield len(self.kept)
        width = max(1, len(self.kept) // 2)
        while True:
            start, before = 0, len(self.kept)
            while start < len(self.kept):
                if not self._try(self.kept[:start] + self.kept[start + width :]):
                    start += width
                yield len(self.kept)
            if width == 1 and len(self.kept) == before:
                return
            width = max(1, min(width // 2, len(self.kept) // 2))

    def _sort(self, place: int) -> str:
        move = self.log[place].move
        return str(move.caught or move.trigger)

    def _try(self, kept: list[int]) -> bool:
        there = {None, *kept}  # a repeat goes with what it repeats
        kept = [place for place in kept if self.log[place].repeats in there]
        if not kept or len(kept) == len(self.kept):
            return False
        self.tries += 1
        if not self.still_shows(rewritten(self.run, self.log, kept)):
            return False
        self.kept = kept
        return True


def neutral(run: str, events: Sequence[object]) -> list[object]:
    """The same stream with nothing private in it: neutral run, ids, texts and data.

    Texts become `x` of no length but zero or one, a final text `F`; equal ids stay equal, different
    ones different; a digest stays right where it was right. Envelopes that are none keep their
    form, with neutral values.
    """
    names = _Names(run)
    final_text = None
    written = []
    for event, link in zip(events, links(run, events), strict=True):
        if event is END_OF_TRANSPORT or not isinstance(event, dict) or link.move.trigger is None:
            fresh = event if event is END_OF_TRANSPORT else names.scrubbed(event)
        else:
            fresh = names.envelope(event, link.move, final_text)
            if "final_text" in link.move.facts:
                final_text = "F"
        written.append(fresh)
    return written


class _Names:
    """Neutral names, each the same for the same original."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._known: dict[tuple[str, str], str] = {("run", run): "run-A"}

    def name(self, sort: str, original: object) -> object:
        """A neutral name for a non-empty text; anything else is scrubbed."""
        if not isinstance(original, str) or not original:
            return self.scrubbed(original)
        count = sum(known == sort for known, _ in self._known) + 1
        return self._known.setdefault((sort, original), f"{sort}-{count}")

    def id(self, original: object, run: str, seq: int) -> object:
        """A neutral id; one that a producer gave stays such a one."""
        if original == f"{run}:{seq}":
            return f"{self.name('run', run)}:{seq}"
        return self.name("id", original)

    def envelope(self, event: dict[str, Any], move: Move, final_text: str | None) -> object:
        """A neutral envelope of the same meaning."""
        data: dict[str, object] = {}
        for key, value in event["data"].items():
            if key == "digest" and isinstance(value, str):
                right = "digest_matches" in move.facts
                data[key] = digest_of(final_text) if right else digest_of("another text")
            elif key in ("call_id", "response_id"):
                data[key] = self.name(key.removesuffix("_id"), value)
            elif key == "final_text" and isinstance(value, str):
                data[key] = value and "F"
            elif key == "outcome" or isinstance(value, bool):
                data[key] = value
            else:
                data[self.known_key(key)] = self.scrubbed(value)
        return {
            "run": self.name("run", event["run"]),
            "id": self.id(event["id"], event["run"], event["seq"]),
            "seq": event["seq"],
            "kind": event["kind"],
            "data": data,
        }

    def known_key(self, key: str) -> str:
        """A key of the contract as it is, any other neutral."""
        return key if key in _CONTRACT_KEYS else str(self.name("key", key))

    def scrubbed(self, value: object) -> object:
        """A value of the same form, with neutral texts; envelopes keep their keys."""
        if isinstance(value, dict):
            if {"run", "id", "seq", "kind", "data"} & value.keys():
                return self._like_an_envelope(value)
            return {self.known_key(key): self.scrubbed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.scrubbed(item) for item in value]
        return "x" if isinstance(value, str) and value else deepcopy(value)

    def _like_an_envelope(self, event: dict[str, Any]) -> dict[str, Any]:
        fresh: dict[str, Any] = {}
        for key, value in event.items():
            if key == "run":
                fresh[key] = self.name("run", value)
            elif key == "id" and isinstance(event.get("run"), str):
                seq = event.get("seq")
                fresh[key] = self.id(value, event["run"], seq if isinstance(seq, int) else 0)
            elif key in ("seq", "kind"):
                fresh[key] = value
            else:
                fresh[self.known_key(key)] = self.scrubbed(value)
        return fresh


_CONTRACT_KEYS: Final = frozenset(
    [
        "run",
        "id",
        "seq",
        "kind",
        "data",
        "text",
        "response_id",
        "reason",
        "call_id",
        "outcome",
        "final_text",
        "digest",
        "ok",
    ]
)
