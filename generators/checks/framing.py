"""Whether a decoder frames as the contract says, however the bytes are cut (§5, §8, P10).

Every check takes a decoder under test (`generators.subjects.framing`), ours or anybody's, and
answers with what it tried and with a divergence: the shortest stream that was found, how it was
cut, what is declared and what was shown. Promptness is part of it: an event is expected with the
chunk that holds the byte which completes it.

The argument for all partitions: if feeding any slice from any prefix state gives the same state
and events as feeding it byte by byte, then by induction over the chunks every partition of the
stream does, all 2^(n-1) of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from doneness.generators.checks.odd_wires import odd_wires
from doneness.generators.divergence import was_not_run
from doneness.generators.framing_oracle import (
    NO_LIMITS,
    FramingLimits,
    FramingOracle,
    Policy,
    framed,
)
from doneness.generators.framing_streams import (
    PIECES,
    bytewise,
    in_two,
    long_lines,
    pieces_of,
    random_cut,
    random_stream,
    regular_with_a_stranger,
    whole,
)
from doneness.generators.subjects.framing import NOT_SHOWN, Chunks, Framed, FramingSubject
from doneness.spec.framing import AT_LINE_START

PROBE: Final = b"\ndata: z\n\n"
"""What tells states apart: the end of a line, and one more event."""

LONG_BYTES: Final = 400
"""From here on a stream is not cut everywhere: the work grows with the square of the cuts."""


SHRINK_BYTES: Final = 400_000
"""How many bytes may be fed to find a shorter stream."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How decoders are used in a check.

    Attributes:
        exact: Whether errors must name the place or the limit, and lose no event before; what the
            project's own decoder promises, and others need not.
    """

    errors: Policy = "strict"
    limits: FramingLimits = NO_LIMITS
    exact: bool = False


STRICT: Final = Setting()


@dataclass(frozen=True, slots=True)
class FramingDivergence:
    """A stream that a decoder frames otherwise than declared.

    Attributes:
        reason: The first difference, in words.
    """

    subject: str
    check: str
    setting: Setting
    chunks: tuple[bytes, ...]
    expected: FramingOracle
    shown: Framed
    reason: str

    @property
    def wire(self) -> bytes:
        """The whole stream."""
        return b"".join(self.chunks)

    def table(self) -> str:
        """The chunks, numbered, with the events expected and shown after each."""
        lines = [f"{self.subject}, errors={self.setting.errors!r}: {self.reason}"]
        wanted = expected_lists(self.expected, self.chunks)
        for number, chunk in enumerate((*self.chunks, None)):
            shown = self.shown.events[number] if number < len(self.shown.events) else "nothing"
            fed = "end of the stream" if chunk is None else repr(chunk)[1:]
            lines.append(f"{number + 1:3}  {fed}")
            if _plain(shown) != wanted[number]:
                lines.append(f"  >    declared {wanted[number]}")
                lines.append(f"       shown    {_plain(shown)}")
        lines.append(
            f"     error: declared {self.expected.error!r}, shown {self.shown.error!r}; "
            f"retry: {self.expected.retry_ms!r}, {self.shown.retry_ms!r}; "
            f"last id: {self.expected.last_event_id!r}, {self.shown.last_event_id!r}"
        )
        return "\n".join(lines)

    def case(self) -> dict[str, Any]:
        """The stream as a case of `fixtures/framing`, with what is declared."""
        replaced = framed(self.wire, "replace")
        return {
            "name": f"{self.check}-{abs(hash(self.wire)) % 10**8:08}",
            "group": "found",
            "note": self.reason,
            "invalid_utf8": framed(self.wire).error is not None,
            "wire": base64.b64encode(self.wire).decode(),
            "expected": [[event.event, event.data, event.id] for event in replaced.events],
            "retry": replaced.retry_ms,
            "last_event_id": replaced.last_event_id,
            "chunks": [len(chunk) for chunk in self.chunks],
        }

    def write(self, folder: Path) -> Path:
        """Write the case below `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.case()['name']}.json"
        path.write_text(json.dumps([self.case()], indent=1) + "\n", "utf-8")
        return path


@dataclass
class Verdict:
    """What a check tried, and the first divergence, shrunk.

    Attributes:
        streams: How many different streams.
        runs: How many times a stream was fed, each cut in one way.
        pairs: Of the declared machines, how often each (machine, state, trigger) was decided.
        rows: Which rows fired, by machine and place.
    """

    check: str
    streams: int = 0
    runs: int = 0
    states: int = 0
    pairs: dict[tuple[str, str, str], int] = field(default_factory=dict)
    rows: set[tuple[str, int]] = field(default_factory=set)
    divergence: FramingDivergence | None = None


def expected_lists(oracle: FramingOracle, chunks: Chunks) -> list[list[tuple[str, str, str]]]:
    """The declared events, by the chunk that completes each; none at the end."""
    lists: list[list[tuple[str, str, str]]] = [[] for _ in range(len(chunks) + 1)]
    ends, end = [], 0
    for chunk in chunks:
        end += len(chunk)
        ends.append(end)
    for event in oracle.events:
        place = next(number for number, end in enumerate(ends) if end >= event.after_bytes)
        lists[place].append((event.event, event.data, event.id))
    return lists


def difference(
    oracle: FramingOracle, chunks: Chunks, shown: Framed, setting: Setting
) -> str | None:
    """The first difference between what is declared and what a decoder showed, in words."""
    if shown.failure is not None:
        return f"it failed: {shown.failure}"
    if oracle.error is None and shown.error is not None:
        return f"it refused the stream: {shown.error}"
    if oracle.error is not None and shown.error is None:
        return f"it accepted what must be refused ({oracle.error.strip()})"
    wanted = [(event.event, event.data, event.id) for event in oracle.events]
    got = _plain(shown.all_events)
    if oracle.error is not None and not setting.exact:
        return None if got == wanted[: len(got)] else f"events: declared {wanted}, shown {got}"
    if got != wanted:
        return f"events: declared {wanted}, shown {got}"
    lists = expected_lists(oracle, chunks)
    for place, some in enumerate(shown.events):
        if _plain(some) != lists[place]:
            return f"after chunk {place + 1}: declared {lists[place]}, shown {_plain(some)}"
    if oracle.error is not None and shown.error is not None:
        if oracle.error not in shown.error:
            return f"the error must name {oracle.error.strip()!r}: {shown.error}"
        place = _failing(oracle, chunks)
        if len(shown.events) != place + bool(lists[place]):
            return f"the error must come after {oracle.error_after_bytes} bytes"
    for name, value, declared in (
        ("retry", shown.retry_ms, oracle.retry_ms),
        ("last event id", shown.last_event_id, oracle.last_event_id),
    ):
        if value != declared and value != NOT_SHOWN:
            return f"{name}: declared {declared!r}, shown {value!r}"
    return None


def _failing(oracle: FramingOracle, chunks: Chunks) -> int:
    """The place of the chunk with which the stream goes wrong; the end comes after them all."""
    end = 0
    for place, chunk in enumerate(chunks):
        end += len(chunk)
        if oracle.error_after_bytes is not None and end >= oracle.error_after_bytes and chunk:
            return len(chunks) if oracle.ended_badly else place
    return len(chunks)


def compare(
    subject: FramingSubject,
    check: str,
    streams: Iterable[tuple[FramingOracle, tuple[bytes, ...]]],
    setting: Setting,
) -> FramingDivergence | None:
    """Feed streams to a decoder; the first divergence, shrunk."""
    listed = list(streams)
    shown = subject.frame([chunks for _, chunks in listed], setting.errors)
    for (oracle, chunks), one in zip(listed, shown, strict=True):
        reason = difference(oracle, chunks, one, setting)
        if reason is not None:
            found = FramingDivergence(subject.name, check, setting, chunks, oracle, one, reason)
            return shrink(subject, check, chunks, setting) or found
    return None


def shrink(
    subject: FramingSubject, check: str, chunks: tuple[bytes, ...], setting: Setting
) -> FramingDivergence | None:
    """A stream that still diverges, from which nothing can be left out, in as few chunks."""
    best = _diverges(subject, check, chunks, setting)
    if best is None:
        return None
    improved, fed = True, 0
    while improved:
        improved = False
        for shorter in _shorter(best.chunks):
            fed += len(best.wire)
            if fed > SHRINK_BYTES:
                return best
            found = _diverges(subject, check, shorter, setting)
            if found is not None:
                best, improved = found, True
                break
    return best


def _shorter(chunks: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    for place in range(len(chunks)):
        yield chunks[:place] + chunks[place + 1 :]
    for place in range(len(chunks) - 1):
        yield (*chunks[:place], chunks[place] + chunks[place + 1], *chunks[place + 2 :])
    for place, chunk in enumerate(chunks):
        width = len(chunk) // 2
        while width:
            for at in range(0, len(chunk), width):
                less = chunk[:at] + chunk[at + width :]
                yield (*chunks[:place], less, *chunks[place + 1 :])
            width //= 2


def _diverges(
    subject: FramingSubject, check: str, chunks: tuple[bytes, ...], setting: Setting
) -> FramingDivergence | None:
    oracle = framed(b"".join(chunks), setting.errors, setting.limits)
    [shown] = subject.frame([chunks], setting.errors)
    reason = difference(oracle, chunks, shown, setting)
    if reason is None or was_not_run(shown.failure):
        return None
    return FramingDivergence(subject.name, check, setting, chunks, oracle, shown, reason)


# The checks.


def check_cuts(
    subject: FramingSubject, wires: Iterable[bytes], setting: Setting = STRICT
) -> Verdict:
    """Each stream whole, byte by byte, and at every two-way split."""
    verdict = Verdict("framing-cuts")
    for wire in wires:
        oracle = framed(wire, setting.errors, setting.limits)
        cuts = [whole(wire), bytewise(wire), *in_two(wire)]
        _count(verdict, oracle, len(cuts))
        verdict.divergence = compare(
            subject, verdict.check, [(oracle, chunks) for chunks in cuts], setting
        )
        if verdict.divergence is not None:
            break
    return verdict


def check_random(
    subject: FramingSubject, seed: int, examples: int, setting: Setting = STRICT
) -> Verdict:
    """Random streams, each cut at random: any split of any of them must not matter."""
    verdict = Verdict("framing-random")
    random = Random(seed)  # noqa: S311 # repeatable, not secret
    streams = []
    for _ in range(examples):
        wire = random_stream(random, wrong=random.random() < 0.25)
        oracle = framed(wire, setting.errors, setting.limits)
        _count(verdict, oracle, 1)
        streams.append((oracle, random_cut(random, wire)))
    verdict.divergence = compare(subject, verdict.check, streams, setting)
    return verdict


def check_odd(subject: FramingSubject, setting: Setting = STRICT) -> Verdict:
    """Streams of odd names, values, colons, comments and sizes, each whole and in pieces."""
    verdict = Verdict("framing-odd")
    streams = []
    for wire in odd_wires():
        oracle = framed(wire, setting.errors, setting.limits)
        cuts = [whole(wire), pieces_of(wire, 1 if len(wire) < LONG_BYTES else 1_000)]
        _count(verdict, oracle, len(cuts))
        streams += [(oracle, chunks) for chunks in cuts]
    verdict.divergence = compare(subject, verdict.check, streams, setting)
    return verdict


def check_regular(subject: FramingSubject, setting: Setting = STRICT, filling: int = 40) -> Verdict:
    """Regular streams, for which decoders have shortcuts, with one stranger at every place."""
    return _check_cut("framing-regular", subject, setting, regular_with_a_stranger(filling))


def check_long_lines(subject: FramingSubject, setting: Setting = STRICT) -> Verdict:
    """Lines that come in many chunks."""
    return _check_cut("framing-long-lines", subject, setting, long_lines())


def _check_cut(
    name: str, subject: FramingSubject, setting: Setting, cut: Iterable[tuple[bytes, ...]]
) -> Verdict:
    verdict = Verdict(name)
    oracles: dict[bytes, FramingOracle] = {}
    streams = []
    for chunks in cut:
        wire = b"".join(chunks)
        if wire not in oracles:
            oracles[wire] = framed(wire, setting.errors, setting.limits)
        _count(verdict, oracles[wire], 1)
        streams.append((oracles[wire], chunks))
    verdict.divergence = compare(subject, verdict.check, streams, setting)
    return verdict


def explore(subject: FramingSubject, setting: Setting = STRICT) -> Verdict:
    """From a shortest way to every declared state, each piece, and a probe of what came of it.

    States are told apart by what the declared machines hold, with texts abstracted: a name is one
    of the four or another one; a value is empty or not, digits or not, with NUL or not; data has
    no lines, one or more. What is being said of an event counts between lines only.
    """
    verdict = Verdict("framing-exploration")
    first = FramingOracle(setting.errors, setting.limits, pairs=verdict.pairs, rows=verdict.rows)
    frontier: list[tuple[FramingOracle, tuple[bytes, ...]]] = [(first, ())]
    seen = {_abstract(first)}
    streams: list[tuple[FramingOracle, tuple[bytes, ...]]] = [*_probed(first, (), b"")]
    while frontier:
        oracle, path = frontier.pop(0)
        for piece in PIECES:
            reached = oracle.fork()
            reached.feed(piece)
            streams += _probed(reached, path, piece)
            key = _abstract(reached)
            if key not in seen and not reached.failed:
                seen.add(key)
                frontier.append((reached, (*path, piece)))
    verdict.states = len(seen)
    verdict.streams = len(streams) // 3
    verdict.runs = len(streams)
    verdict.divergence = compare(subject, verdict.check, streams, setting)
    return verdict


def check_ended(factory: Callable[[], Any], errors: Policy = "strict") -> str | None:
    """After the end, and after an error, nothing can be fed, in whatever state the stream was.

    What can be fed all the same is the answer; None is good.
    """
    for before in _ENDS:
        for after in (*PIECES, b"", PROBE, b"\n\ndata: x\n\ndata: "):
            decoder = factory()
            oracle = framed(before, errors)
            for step, arguments in ((decoder.feed, (before,)), (decoder.finish, ())):
                try:
                    step(*arguments)
                except ValueError:
                    if not oracle.failed:
                        return f"{before!r} and the end: refused"
            try:
                found = decoder.feed(after)
            except ValueError:
                continue
            return f"{after!r} after {before!r} and the end: {found!r}, expected an error"
    return None


def check_pending_error(factory: Callable[[], Any]) -> str | None:
    """Under `strict`, an error that events came before is raised by the next call, whatever it is.

    What can be done all the same is the answer; None is good.
    """
    for after in (*PIECES, b"", PROBE, None):
        decoder = factory()
        decoder.feed(b"data: a")
        if not decoder.feed(b"\n\ndata: \xff\ndata: b\n"):
            return "the event before the wrong byte is lost"
        try:
            found = decoder.finish() if after is None else decoder.feed(after)
        except ValueError:
            continue
        return f"{after!r} after a wrong byte: {found!r}, expected the error"
    return None


_ENDS: Final = (
    b"",
    b"\xef\xbb\xbf",
    b"data: a\n\n",
    b"data: a\r\n\r",
    b"data",
    b"data:",
    b"data: ",
    b"data: a",
    b"data: a\n",
    b"data: a\r",
    b"data: a\ndata: b",
    b"id: 1\nx",
    b": a",
    b"event: e\ndata: a",
    b"\xef",
    b"data: \xff",
    b"data: \xff\n\n",
)


def _probed(
    reached: FramingOracle, path: tuple[bytes, ...], piece: bytes
) -> Iterator[tuple[FramingOracle, tuple[bytes, ...]]]:
    before, probed = b"".join(path), reached.fork()
    reached = reached.fork()
    reached.finish()
    probed.feed(PROBE)
    probed.finish()
    yield reached, (before, piece)
    yield probed, (before + piece + PROBE,)
    yield probed, (before, piece, PROBE)


def _abstract(oracle: FramingOracle) -> tuple[object, ...]:
    """What exploration tells apart: between lines the event so far, inside one the line so far."""
    line, entry, pending, wrong, name, value, _, data, kind, own, last, retry = oracle.state()
    assert isinstance(value, str)
    assert isinstance(data, tuple)
    if line in AT_LINE_START:
        begun = (len(data[:2]), bool(kind), own == last, bool(own), retry is not None)
        return (line, entry, pending, begun)
    known = name if name in ("data", "event", "id", "retry", "") else "another"
    held = (bool(value), value.isdigit(), "\0" in value)
    return (line, entry, wrong, known, held) if not pending else (line, pending)


def _count(verdict: Verdict, oracle: FramingOracle, runs: int) -> None:
    verdict.streams += 1
    verdict.runs += runs
    verdict.rows |= oracle.rows
    for pair, count in oracle.pairs.items():
        verdict.pairs[pair] = verdict.pairs.get(pair, 0) + count


def _plain(events: Iterable[Iterable[str]] | str) -> list[tuple[str, ...]] | str:
    return events if isinstance(events, str) else [tuple(event) for event in events]


# The argument for all partitions.


def every_partition(
    factory: Callable[[], Any], wire: bytes, snapshot: Callable[[Any], object] | None = None
) -> str | None:
    """Prove that no partition of a stream can be seen; else the slice for which that fails.

    Args:
        factory: Makes a decoder whose containers hold nothing that changes.
        wire: The stream; the work grows with the square of its length.
        snapshot: All that decides what comes next; the decoder's own method by default.
    """
    snapshot = snapshot or (lambda decoder: decoder.snapshot())
    cuts = cut_points(wire)
    states, events = [factory()], []
    for at in range(len(wire)):
        decoder = fork(states[-1])
        events.append(_fed(decoder, wire[at : at + 1]))
        states.append(decoder)
    known = {cut: snapshot(states[cut]) for cut in cuts}
    for place, start in enumerate(cuts):
        expected: list[object] = []
        taken = start
        for end in cuts[place:]:
            for some in events[taken:end]:
                expected += some
            taken = end
            decoder = fork(states[start])
            got = _fed(decoder, wire[start:end])
            if got != expected or snapshot(decoder) != known[end]:
                return (
                    f"{wire[start:end]!r} after {wire[:start]!r}: byte by byte {expected} and "
                    f"{known[end]}, at once {got} and {snapshot(decoder)}"
                )
    return None


def cut_points(wire: bytes) -> list[int]:
    """Where a stream is cut: everywhere, or, in one of many bytes, near what is not just text.

    Between two such points of a long stream stands a long text, in which one place is as good as
    another; some of them are cut points as well.
    """
    if len(wire) <= LONG_BYTES:
        return list(range(len(wire) + 1))
    marks = [at for at, byte in enumerate(wire) if byte in b"\r\n: "]
    near = {at + off for at in [0, *marks, len(wire)] for off in range(-4, 5)}
    near |= set(range(0, len(wire), LONG_BYTES))
    return sorted(at for at in near if 0 <= at <= len(wire))


def fork(decoder: Any) -> Any:
    """An independent copy of a decoder, one level deep."""
    twin = copy(decoder)
    for name in getattr(type(decoder), "__slots__", ()):
        value = getattr(decoder, name)
        if isinstance(value, bytearray | list):
            setattr(twin, name, value.copy())
    return twin


def _fed(decoder: Any, chunk: bytes) -> list[object]:
    """The events; an error counts by the state that it leaves."""
    try:
        return list(decoder.feed(chunk))
    except ValueError:
        return []
