"""Streams beyond exploration: each family finds a fault that only it is made for, in few events."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from doneness.generators.checks import framing, growth, long_streams, sharing, short_streams
from doneness.generators.checks.shortening import shortest
from doneness.generators.checks.telling import text_event
from doneness.generators.classify import moves
from doneness.generators.divergence import compare
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME, play
from doneness.generators.oracle import Oracle
from doneness.generators.subject import PythonSubject
from doneness.generators.subjects.framing import PythonDecoder
from doneness.generators.subjects.program import SLOW_MAX
from doneness.generators.subjects.python_object import PythonObject
from doneness.machine import Progress, SSEDecoder

EVENTS_MAX = 6


class Changed:
    """A right reducer behind something that changes what it is fed."""

    def __init__(self, run: str) -> None:
        self.inner = Progress(run)

    def change(self, event: Any) -> Any:
        return event

    def feed(self, event: Any) -> None:
        with suppress(KeyError, TypeError, AttributeError):
            event = self.change(event)
        self.inner.feed(event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class TrimsCalls(Changed):
    def change(self, event):
        data = event["data"]
        return {**event, "data": {**data, "call_id": data["call_id"].strip()}}


class FoldsRuns(Changed):
    def change(self, event):
        return {**event, "run": RUN} if event["run"].lower() == RUN.lower() else event


class DropsTheEndMark(Changed):
    def change(self, event):
        done = event["data"] == {"text": "[DONE]"}
        return {**event, "data": {"text": ""}} if done else event


class TakesNamedDigests(Changed):
    def change(self, event):
        data = event["data"]
        return {**event, "data": {**data, "digest": data["digest"].removeprefix("sha256:")}}


class SkipsMetadata(Changed):
    def change(self, event):
        return {**event, "data": {k: v for k, v in event["data"].items() if k != "_meta"}}


class ReadsUnderscores(Changed):
    def change(self, event):
        return {**event, "kind": event["kind"].replace("_", ".")}


class AllowsTimestamps(Changed):
    def change(self, event):
        return {key: value for key, value in event.items() if key != "ts"}


class RepairsIds(Changed):
    def change(self, event):
        return {**event, "id": event["id"].encode("utf-8", "replace").decode()}


class CountsIn31Bits(Changed):
    def change(self, event):
        return {**event, "seq": min(event["seq"], 2**31 - 1)} if event["seq"] > 1 else event


class DropsNulls(Changed):
    def change(self, event):
        known = event["id"] in getattr(self, "ids", ())
        self.ids = {*getattr(self, "ids", ()), event["id"]}
        fewer = {k: v for k, v in event["data"].items() if v is not None}
        return {**event, "data": fewer} if known else event


class ComparesAsText(Changed):
    def change(self, event):
        if event["kind"] != "future":
            return event
        return {**event, "data": {k: str(v) for k, v in event["data"].items()}}


class ForeignCancel(Changed):
    cancelled = False

    def change(self, event):
        self.cancelled |= event["run"] != RUN and event["kind"] == "cancel.requested"
        return event

    @property
    def status(self):
        status = self.inner.status
        return "cancelling" if status == "running" and self.cancelled else status


class MissesTheNext(Changed):
    """After a repeat the text of the next event is lost."""

    def change(self, event):
        repeated, self.repeats = (
            self.inner.duplicates > getattr(self, "repeats", 0),
            self.duplicates,
        )
        is_text = repeated and event["kind"] == "text.delta"
        return {**event, "data": {"text": ""}} if is_text else event


class WaitsAgain(Changed):
    again = False

    def feed(self, event):
        before = self.inner.duplicates
        super().feed(event)
        repeated = self.inner.duplicates > before
        self.again |= repeated and event["kind"] == "approval.wait"

    @property
    def waiting(self):
        return self.inner.waiting or self.again


class DropsTheThirdWait(Changed):
    """A toggle: only for as long as three approvals are asked for, nothing waits."""

    waits = 0

    def change(self, event):
        self.waits += event["kind"] == "approval.wait"
        return event

    @property
    def status(self):
        status = self.inner.status
        return "running" if status == "waiting" and self.waits == 3 else status


class HasRoomForFour(Changed):
    """Forgets a settled call where a fifth is asked for."""

    @property
    def tools(self):
        tools = self.inner.tools
        settled = [call for call, state in tools.items() if state in ("returned", "failed")]
        return tools if len(tools) < 5 else {c: s for c, s in tools.items() if c not in settled[:1]}


class ExpectsTheWhole(Changed):
    """Takes a fragment that begins as the text does for the whole text."""

    def change(self, event):
        more = event["data"]["text"].removeprefix(self.inner.text or "?")
        return {**event, "data": {"text": more}} if more else event


class ReplacesWithPatterns(Changed):
    """As JavaScript's `replace` does with what it is given."""

    def change(self, event):
        return {**event, "data": {"text": event["data"]["text"].replace("$$", "$")}}


class WaitsForAText(Changed):
    """Still waits where the final text is empty."""

    empty = False

    def change(self, event):
        self.empty |= event["kind"] == "run.ended" and event["data"]["final_text"] == ""
        self.waited = self.inner.waiting or getattr(self, "waited", False)
        return event

    @property
    def waiting(self):
        return self.inner.waiting or (self.empty and self.waited)


class CountsStraysOnce(Changed):
    """As long as they are of one kind, and say nothing."""

    @property
    def foreign(self):
        return self.inner.foreign - getattr(self, "repeated", 0)

    def change(self, event):
        if event["run"] != RUN:
            same = event["kind"] == getattr(self, "last", None) and event["data"] == {}
            self.repeated = getattr(self, "repeated", 0) + same
            self.last = event["kind"]
        return event


class HasOneSortOfNames(Changed):
    """A call may not be named as a response is."""

    def change(self, event):
        taken = event["data"]["call_id"] in self.inner.model_responses
        return {**event, "data": {}} if taken else event


class LosesAResponse(Changed):
    """A failed call takes the last response with it, if there was one before."""

    @property
    def model_responses(self):
        shown = self.inner.model_responses
        return shown[:-1] if len(shown) > 1 and "failed" in self.inner.tools.values() else shown


class StartsAnewFarAhead(Changed):
    """A far jump is a new session, in which nobody knows the calls of the old one."""

    far = False

    def change(self, event):
        self.far |= event["seq"] > self.inner.last_seq + 500
        return event

    @property
    def tools(self):
        return {} if self.far else self.inner.tools


class BelievesInErrors(Changed):
    """Whatever says that it is an error is one."""

    def change(self, event):
        is_error = event["data"].get("message") == "error"
        return {**event, "kind": "text.delta"} if is_error else event


class TakesThePartForTheRun(Changed):
    def change(self, event):
        return {**event, "run": RUN} if RUN.startswith(f"{event['run']}-") else event


SHORT = {
    "names": TrimsCalls,
    "runs": FoldsRuns,
    "texts": DropsTheEndMark,
    "digests": TakesNamedDigests,
    "payloads": SkipsMetadata,
    "kinds": ReadsUnderscores,
    "envelopes": AllowsTimestamps,
    "not JSON": RepairsIds,
    "numbers": CountsIn31Bits,
    "repeats": DropsNulls,
    "contents": ComparesAsText,
    "few times": DropsTheThirdWait,
    "plenty": LosesAResponse,
    "strays": ForeignCancel,
    "behind": MissesTheNext,
    "everything again": WaitsAgain,
}


@pytest.mark.parametrize("family", short_streams.FAMILIES)
def test_each_family_finds_its_fault_in_few_events(family):
    """And finds nothing in what the faulty ones have in common."""
    for factory, is_right in ((SHORT[family], False), (Changed, True)):
        subject = PythonSubject(factory.__name__, factory)
        _, found = short_streams.check_streams(subject, family, short_streams.FAMILIES[family]())
        assert (found is None) is is_right
        assert is_right or len(found.lines) <= EVENTS_MAX


@pytest.mark.parametrize(
    ("family", "factory"),
    [
        ("few times", HasRoomForFour),
        ("kinds", BelievesInErrors),
        ("plenty", StartsAnewFarAhead),
        ("runs", TakesThePartForTheRun),
        ("texts", ExpectsTheWhole),
        ("texts", ReplacesWithPatterns),
        ("texts", WaitsForAText),
        ("names", HasOneSortOfNames),
        ("strays", CountsStraysOnce),
    ],
)
def test_families_find_other_faults_too(family, factory):
    """In few events; a fifth call takes five of them, and one is settled."""
    subject = PythonSubject(factory.__name__, factory)
    _, found = short_streams.check_streams(subject, family, short_streams.FAMILIES[family]())
    assert len(found.lines) <= EVENTS_MAX


@pytest.mark.parametrize("family", short_streams.FAMILIES)
def test_the_moves_are_what_they_say(family):
    """Read from their events alone, they are decided as their makers say."""
    for run, templates in list(short_streams.FAMILIES[family]())[::7]:
        made = play(Oracle(run), templates)
        read = moves(run, [move.event for move in made])
        told, asked = Oracle(run), Oracle(run)
        for one, other in zip(made, read, strict=True):
            told.take(one)
            asked.take(other)
            assert told.observables() == asked.observables(), (family, [m.name for m in made])


class FewCalls(Changed):
    def change(self, event):
        many = event["kind"] == "tool.requested" and len(self.inner.tools) >= 32
        return {**event, "data": {}} if many else event


class ForgetsIds(Changed):
    def change(self, event):
        self.ids = [*getattr(self, "ids", ()), event["id"]]
        return {**event, "id": f"{event['id']}!"} if event["id"] in self.ids[:-100] else event


class CountsInAByte(Changed):
    @property
    def duplicates(self):
        return self.inner.duplicates % 256


class NotSoDeep(Changed):
    def change(self, event):
        return {**event, "seq": 0} if str(event).count("[") > 100 else event


LONG = {
    "many calls": FewCalls,
    "many ids": ForgetsIds,
    "many times": CountsInAByte,
    "large events": NotSoDeep,
}


@pytest.mark.parametrize("family", long_streams.FAMILIES)
def test_each_family_of_long_streams_finds_its_fault(family):
    """And shows it with what it takes, or as short as it could be made within reason."""
    for factory, is_right in ((LONG[family], False), (Changed, True)):
        subject = PythonSubject(factory.__name__, factory)
        _, found = long_streams.check_long(subject, family, long_streams.FAMILIES[family]())
        assert (found is None) is is_right
        assert is_right or found.lines[-1].differs


class KeepsTheEvent(Changed):
    """Compares with the caller's own object, as it is now."""

    def feed(self, event):
        kept = self.__dict__.setdefault("kept", {})
        known = isinstance(event, dict) and kept.get(event.get("id"))
        super().feed({**event, "seq": 0} if known and known["data"] != event["data"] else event)
        if isinstance(event, dict) and isinstance(event.get("id"), str):
            kept.setdefault(event["id"], event)


class Singleton(Changed):
    """Whoever asks for a waiting run is told of the reducer begun last."""

    latest = None

    def __init__(self, run):
        super().__init__(run)
        Singleton.latest = self

    @property
    def waiting(self):
        return self.latest.inner.waiting


class TakesApart(Changed):
    """Takes what it needs out of the caller's own event."""

    def feed(self, event):
        super().feed(dict(event) if isinstance(event, dict) else event)
        if isinstance(event, dict):
            event.pop("id", None)


@pytest.mark.parametrize(
    ("family", "factory"),
    [
        ("spoilt events", KeepsTheEvent),
        ("other reducers", Singleton),
        ("one event for two", TakesApart),
    ],
)
def test_what_is_shared_is_found(family, factory):
    """And found with few events; nothing is found where nothing is shared."""
    _, found = sharing.check_sharing(PythonSubject(factory.__name__, factory), family)
    assert 1 <= len(found.lines) <= EVENTS_MAX
    assert sharing.check_sharing(PythonSubject("Changed", Changed), family)[1] is None


def test_concrete_streams_are_shortened():
    """By their links: numbers close up, and a repeat keeps what it repeats."""
    subject = PythonSubject("WaitsAgain", WaitsAgain)
    names = ["text", "approval wait", "text", "another run", "requested c1", "failed with text"]
    played = play(Oracle(RUN), [BY_NAME[name] for name in names])
    again = play(Oracle(RUN), [BY_NAME[name] for name in names[:2]])[1]
    events = [move.event for move in played] + [again.event]
    found = compare(subject, "a check", RUN, moves(RUN, events))
    shorter = shortest(subject, found)
    assert [line.move.event["kind"] for line in shorter.lines] == [
        "approval.wait",
        "run.ended",
        "approval.wait",
    ]


class Twins(Changed):
    """Takes one id for another."""

    def change(self, event: Any) -> Any:
        return event | {"id": "a"} if event["id"] == "b" else event


def test_two_events_of_a_thousand_are_found_with_little_work():
    """They stand anywhere in it, and halving leaves most of the rest for long."""
    names = [f"x{number}" for number in range(400)]
    names[137], names[-1] = "a", "b"
    events = [text_event(seq, id=name) for seq, name in enumerate(names, 1)]
    subject = PythonSubject("Twins", Twins)
    found = compare(subject, "a check", RUN, moves(RUN, events))
    assert len(shortest(subject, found, events_max=1_000).lines) == 2


class Hangs(Progress):
    """Never comes back from an approval."""

    def feed(self, event):
        while isinstance(event, dict) and event.get("kind") == "approval.wait":
            pass
        super().feed(event)


def test_a_subject_that_is_given_up_keeps_the_stream_that_was_found():
    """It hung once too often; that is the finding, and no error of the kit."""
    subject = PythonObject("Hangs", Hangs, answer_seconds=0.05)
    events = [text_event(1), text_event(2, kind="approval.wait", data={})]
    found = compare(subject, "a check", RUN, moves(RUN, events))
    for _ in range(SLOW_MAX):
        subject.last(RUN, [events])
    assert shortest(subject, found) == found


class Copies(Changed):
    """Keeps its history in a new list each time; so much of it that the time is no noise."""

    history = ()

    def feed(self, event):
        self.history = (*self.history, *[event] * 16)
        super().feed(event)


def test_time_that_grows_with_the_square_is_found():
    """And time that grows with the run is not."""
    assert "times as long" in growth.faster_than_the_run(PythonSubject("Copies", Copies))
    assert growth.faster_than_the_run(PythonSubject("Changed", Changed)) is None


class ReplaysAtEachRead:
    """Folds its whole log whenever it is asked, and takes its time."""

    def __init__(self, run):
        self.run, self.log = run, []

    def feed(self, event):
        self.log.append(event)

    def close_transport(self):
        self.log.append(None)

    @property
    def status(self):
        progress = Progress(self.run)
        for event in self.log * 40:
            progress.feed(event)
        return progress.status


def test_a_log_that_is_folded_at_each_read_is_found():
    """Where it is read after each event, as a view reads it."""
    found = growth.faster_than_the_run(PythonSubject("ReplaysAtEachRead", ReplaysAtEachRead))
    assert "read after each event" in found


class BreaksAtTheThousandth(Changed):
    def feed(self, event):
        if self.inner.last_seq >= 1_000:
            raise MemoryError("too many events")
        super().feed(event)


class ForgetsSevenThousand(Changed):
    """A window of so many ids."""

    def change(self, event):
        return {**event, "id": "new"} if self.inner.last_seq - event["seq"] > 7_000 else event


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (BreaksAtTheThousandth, "raised MemoryError: too many events"),
        (ForgetsSevenThousand, "duplicates: declared 1, shown 0"),
    ],
)
def test_what_breaks_in_a_long_run_is_found(factory, said):
    """And nothing else is; how long it takes is another matter."""
    subject = PythonSubject(factory.__name__, factory)
    assert said in growth.lost_in_the_run(subject)
    assert growth.faster_than_the_run(subject) is None
    assert growth.lost_in_the_run(PythonSubject("Changed", Changed)) is None


class RecoversForGood(Changed):
    """A response that ends badly after one that completed counts for nothing."""

    def change(self, event):
        again = self.inner.recovered and event["kind"] == "model.unresolved"
        return {**event, "kind": "text.delta", "data": {"text": ""}} if again else event


class StatusAlone:
    """Shows nothing but its status."""

    def __init__(self, run):
        self.reducer = RecoversForGood(run)
        self.feed, self.close_transport = self.reducer.feed, self.reducer.inner.close_transport

    @property
    def status(self):
        return self.reducer.status


def test_another_way_to_a_known_state_is_followed():
    """What a subject does not show is found out by what comes behind."""
    subject = PythonSubject("StatusAlone", StatusAlone)
    _, found = short_streams.check_streams(subject, "behind", short_streams.FAMILIES["behind"]())
    assert [line.move.name for line in found.lines][-1] == "succeeded with text"
    assert len(found.lines) <= EVENTS_MAX


class TrimsTypes:
    """A right decoder, but that it trims the types of events."""

    def __init__(self):
        self.decoder = SSEDecoder()
        self.finish = self.decoder.finish

    def feed(self, chunk):
        return [one._replace(event=one.event.strip()) for one in self.decoder.feed(chunk)]


def test_odd_streams_find_a_decoder_that_trims():
    """And find nothing in a right one; what is found is short."""
    wrong = framing.check_odd(PythonDecoder("TrimsTypes", TrimsTypes)).divergence
    assert len(wrong.wire) <= 30
    assert framing.check_odd(PythonDecoder("right", SSEDecoder)).divergence is None
