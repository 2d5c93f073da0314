"""Framing against its declaration: explored, at random, at every cut, and for every partition."""

from __future__ import annotations

from functools import cache, partial
from itertools import cycle
from random import Random

import pytest

from doneness.fixtures.framing_cases import framing_cases
from doneness.generators.checks import framing as checks
from doneness.generators.checks.framing_settings import SETTINGS, keywords
from doneness.generators.checks.wrong_framing import STRATEGIES, outcome
from doneness.generators.framing_oracle import FramingLimits, framed
from doneness.generators.framing_streams import bytewise, in_two, random_stream, whole
from doneness.generators.subjects.framing import PythonDecoder
from doneness.machine.framing import SSEDecoder
from doneness.spec.framing import ENDED, FAILED, FRAMING_FIELDS, FRAMING_LINES, TOO_LONG

pytestmark = pytest.mark.model

OWN = "doneness.machine.framing:SSEDecoder"
LONG_LIMITS = FramingLimits(line_bytes_max=5_000, event_chars_max=4_995, id_chars_max=600)
EXAMPLES = 500
PARTITIONED = 20
SHORT_BYTES = 60
"""The longer cases are left to the other tests: the work grows with the square."""

CASES = list(framing_cases())
GIVEN = [case for case in CASES if case.file == "cases.json"]
DECLARED = (FRAMING_LINES, FRAMING_FIELDS)
OVER = (ENDED, FAILED, TOO_LONG)
PAIRS = {
    (declaration.name, state.name, trigger)
    for declaration in DECLARED
    for state in declaration.states
    if state.name not in OVER
    for trigger in declaration.triggers
}


def own(setting):
    """The project's own decoder."""
    return PythonDecoder(OWN, partial(SSEDecoder, **keywords(setting)))


@cache
def explored(name):
    """What exploration finds in one setting; done once."""
    return checks.explore(own(SETTINGS[name]), SETTINGS[name])


def drain(decoder, chunks):
    """Feed it all, and the end."""
    found = [event for chunk in chunks for event in decoder.feed(chunk)]
    assert decoder.finish() == []
    return found


@pytest.fixture
def keeps_framing(pytestconfig, model_row, request):
    """Fail on a divergence: show it, write it as a case; count what was exercised."""

    def check(verdict, subject):
        called = getattr(request.node, "callspec", None)
        part = f"/{called.id}" if called and called.id in SETTINGS else ""
        states = {pair[:2] for pair in PAIRS & verdict.pairs.keys()}
        live = sum(state.name not in OVER for declared in DECLARED for state in declared.states)
        model_row.update(
            layer=f"framing/{verdict.check.removeprefix('framing-')}{part}",
            subject=subject.name,
            states=f"{len(states)}/{live}",
            pairs=f"{len(PAIRS & verdict.pairs.keys())}/{len(PAIRS)}",
            transitions=f"{len(verdict.rows)}/{sum(len(one.rows) for one in DECLARED)}",
            joint=verdict.states or "",
            edges=verdict.runs,
            examples=verdict.streams,
        )
        if verdict.divergence is not None:
            path = verdict.divergence.write(pytestconfig.rootpath / ".doneness" / "divergences")
            pytest.fail(
                f"{verdict.divergence.table()}\n"
                f"written to {path.relative_to(pytestconfig.rootpath)}; to keep it, put it into "
                "fixtures/framing",
                pytrace=False,
            )

    return check


@pytest.mark.parametrize("name", SETTINGS)
def test_exploration_of_the_framing_finds_no_divergence(name, keeps_framing):
    """From every declared state every piece leads where it is declared to lead."""
    keeps_framing(explored(name), own(SETTINGS[name]))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_random_streams_cut_at_random(setting, keeps_framing, model_seed):
    """Any split of any stream gives the declared events, with the byte that completes each."""
    subject = own(setting)
    keeps_framing(checks.check_random(subject, model_seed, EXAMPLES, setting), subject)


def test_regular_streams_with_a_stranger(keeps_framing):
    """Where decoders have shortcuts, one thing out of place at every place is noticed."""
    subject = own(SETTINGS["strict"])
    keeps_framing(checks.check_regular(subject, SETTINGS["strict"]), subject)


def test_long_lines_in_small_and_large_chunks(model_seed):
    """A decoder may keep long lines otherwise than short ones: nothing of that is seen."""
    random = Random(model_seed)
    for setting in (SETTINGS["strict"], checks.Setting("replace", LONG_LIMITS, exact=True)):
        subject = own(setting)
        for _ in range(15):
            wire = long_stream(random)
            oracle = framed(wire, setting.errors, setting.limits)
            for sizes in ((64,), (700,), (2_500, 64), (64, 600, 2_100), (2_048,)):
                chunks = cut_into(wire, sizes)
                [shown] = subject.frame([chunks], setting.errors)
                found = checks.difference(oracle, chunks, shown, setting)
                assert found is None, (found[:200], chunks)  # too long to be shrunk


def cut_into(wire, sizes):
    """Chunks of those sizes, in turn."""
    chunks, at = [], 0
    for size in cycle(sizes):
        if at >= len(wire):
            break
        chunks.append(wire[at : at + size])
        at += size
    return tuple(chunks)


def long_stream(random):
    """Some lines, most of them longer than a chunk."""
    wire = b""
    for _ in range(random.randint(1, 4)):
        name = random.choice((b"data: ", b"data: ", b"data:", b"id: ", b": "))
        text = random.choice((b"x", b"7", b"\xc3\xa9")) * random.choice(
            (3, 500, 690, 2_600, 4_994, 4_995)
        )
        wrong = random.choice((b"", b"", b"", b"\xff"))
        wire += (
            name + text + wrong + random.choice((b"\n\n", b"\n\n", b"\r\n\r\n", b"\n", b"\r", b""))
        )
    return wire


def test_a_decoder_of_anybodys_on_random_streams(framing_subject, keeps_framing, model_seed):
    """Likewise, for the decoders that were asked for."""
    setting = checks.Setting(framing_subject.policies[0])
    verdict = checks.check_random(framing_subject, model_seed, EXAMPLES, setting)
    keeps_framing(verdict, framing_subject)


def test_a_decoder_of_anybodys_on_odd_streams(framing_subject, keeps_framing):
    """Odd names, values, colons, comments and sizes, whole and in pieces."""
    setting = checks.Setting(framing_subject.policies[0])
    keeps_framing(checks.check_odd(framing_subject, setting), framing_subject)


def test_every_case_at_every_cut(keeps_framing):
    """P10: every case whole, byte by byte and at every two-way split, as declared."""
    setting = SETTINGS["replace"]
    subject = own(setting)
    keeps_framing(checks.check_cuts(subject, (case.wire for case in CASES), setting), subject)


def test_the_sixteen_cases_are_540_checks():
    """Each of the 16 cases whole, byte by byte and at every two-way split gives its events."""
    checked = 0
    for case in GIVEN:
        for chunks in (whole(case.wire), bytewise(case.wire), *in_two(case.wire)):
            decoder = SSEDecoder()
            found = [event for chunk in chunks for event in decoder.feed(chunk)]
            assert decoder.finish() == []
            assert tuple((e.event, e.data, e.id) for e in found) == case.events, chunks
            assert decoder.retry_ms == case.retry_ms, chunks
            checked += 1
    assert (len(GIVEN), checked) == (16, 540)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.__name__)
def test_a_wrong_strategy_is_found_out(strategy):
    """Five wrong ways to frame fail, each on the case and in the way that the contract says."""
    name, how = STRATEGIES[strategy]
    [case] = [case for case in GIVEN if case.name == name]
    wanted = ("events", [(data,) for _, data, _ in case.events])
    outcomes = [outcome(strategy, list(chunks)) for chunks in in_two(case.wire)]
    assert [how] == list({found[0] for found in outcomes if found != wanted})


@pytest.mark.parametrize(
    "wire",
    [b"data: \xff\n\n", b"data: \xe4\xbd", b"\xef", b"\xef\xbb"],
    ids=lambda wire: wire.hex(),
)
def test_policy_invalid_or_truncated_utf8_is_an_error(wire):
    """Under `strict`, however it is cut, with the place; under `replace` it is none."""
    for chunks in (whole(wire), bytewise(wire), *in_two(wire)):
        decoder = SSEDecoder()
        with pytest.raises(UnicodeDecodeError, match=f"byte {6 if wire[:1] == b'd' else 0} "):
            drain(decoder, chunks)
        found = drain(SSEDecoder("replace"), chunks)
        assert [event.data for event in found] == ["\ufffd"] * wire.count(b"\n\n")


def test_policy_feeding_after_the_end_is_an_error():
    """A stream ends once; told again, the end changes nothing."""
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\n")[0].data == "a"
    assert decoder.finish() == []
    for chunk in (b"", b"\n", b"data: b\n\n"):
        with pytest.raises(ValueError, match="finish"):
            decoder.feed(chunk)
    assert decoder.finish() == []


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_nothing_can_be_fed_after_the_end(errors):
    """Nor after an error, in whatever state the stream was."""
    assert checks.check_ended(partial(SSEDecoder, errors), errors) is None


def test_an_error_that_events_came_before_is_raised_by_the_next_call():
    """Whatever that call is."""
    assert checks.check_pending_error(SSEDecoder) is None


def test_every_partition_of_the_cases(model_row):
    """P10 for all 2^(n-1) partitions: any slice from any prefix state, as byte by byte."""
    model_row.update(layer="framing/every partition", subject=OWN)
    short = [case for case in CASES if len(case.wire) <= SHORT_BYTES]
    for case in short:
        assert checks.every_partition(partial(SSEDecoder, "replace"), case.wire) is None, case.name
    model_row["examples"] = len(short)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_partition_of_random_streams(setting, model_seed, model_row):
    """Likewise for random streams, errors and limits included."""
    model_row.update(layer="framing/every partition", subject=OWN, examples=PARTITIONED)
    random = Random(model_seed)
    factory = partial(SSEDecoder, setting.errors, **keywords(setting))
    for _ in range(PARTITIONED):
        wire = random_stream(random, wrong=random.random() < 0.3)
        assert checks.every_partition(factory, wire) is None


def test_the_checks_exercise_all_that_is_declared():
    """Every (state, trigger) pair before the end, and every row that leads there, is exercised."""
    found = [explored(name) for name in SETTINGS]
    pairs = set().union(*(verdict.pairs for verdict in found))
    assert sorted(PAIRS - pairs) == []
    rows = set().union(*(verdict.rows for verdict in found))
    missing = {
        (declared.name, place)
        for declared in DECLARED
        for place, row in enumerate(declared.rows)
        if not set(row.sources) <= set(OVER)
    } - rows
    assert sorted(missing) == []
