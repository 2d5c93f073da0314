"""Every hand-written case has its kill: one changed line of the machine that turns it red.

A case that no change of the machine could turn red would prove nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from types import ModuleType

import pytest

from doneness.fixtures.cases import every
from doneness.fixtures.framing_cases import framing_cases
from doneness.generators.mutants.loading import loaded, source_of
from doneness.generators.suite.hand_written import is_red
from doneness.machine.framing import InvalidUtf8Error, SSEDecoder

FOLDERS = ("progress", "field")
DECODER = "framing.decoder"

CASES = {case.name: case for case in every(FOLDERS)}
FRAMING = {case.name: case for case in framing_cases()}


def kills_of(folder):
    """The kills for the cases of a folder."""
    path = files("doneness.fixtures") / "kills" / f"{folder}.json"
    return json.loads(path.read_text("utf-8"))


def changed(kill):
    """The module that a kill names, and its code with the line changed; it must be unmistakable."""
    module = kill["file"].removeprefix("machine/").removesuffix(".py").replace("/", ".")
    lines = source_of(module).split("\n")
    places = [
        number
        for number, line in enumerate(lines)
        if line.strip() == kill["line"]
        and kill.get("after", lines[number - 1].strip()) == lines[number - 1].strip()
    ]
    assert len(places) == 1, (
        f"name another line of {kill['file']}: {len(places)} are {kill['line']}"
    )
    [place] = places
    indented = lines[place].removesuffix(kill["line"])
    text = "\n".join([*lines[:place], indented + kill["becomes"], *lines[place + 1 :]])
    return module, compile(text, kill["file"], "exec")


@pytest.mark.parametrize(
    "kill", [kill for folder in FOLDERS for kill in kills_of(folder)], ids=lambda kill: kill["case"]
)
def test_the_kill_turns_its_case_red(kill):
    """The case passes as things are, and fails with the line changed."""
    module, code = changed(kill)
    case = CASES[kill["case"]]
    with loaded({}) as machine:
        assert not is_red(machine.reducer.Progress, case)
    with loaded({module: code}) as machine:
        assert is_red(machine.reducer.Progress, case)


def decoder_of(code):
    """The decoder that changed code makes, beside the real one."""
    module = ModuleType("changed_decoder")
    exec(code, module.__dict__)
    return module.SSEDecoder


def framed(decoder, case, chunks):
    """What a decoder makes of a case: events, id and time, and what it says under `strict`."""
    lenient, strict = decoder("replace"), decoder()
    events = [event for chunk in chunks for event in lenient.feed(chunk)]
    events += lenient.finish()
    shown = tuple((event.event, event.data, event.id) for event in events)
    try:
        for chunk in chunks:
            strict.feed(chunk)
        strict.finish()
        is_valid = True
    except InvalidUtf8Error:
        is_valid = False
    last_id = None if case.last_event_id is None else lenient.last_event_id
    return shown, lenient.retry_ms, last_id, not is_valid


def is_framed_wrongly(decoder, case):
    """Whether a decoder fails a case, fed whole or byte by byte."""
    expected = (case.events, case.retry_ms, case.last_event_id, case.invalid_utf8)
    singles = [case.wire[place : place + 1] for place in range(len(case.wire))]
    try:
        return any(framed(decoder, case, chunks) != expected for chunks in ([case.wire], singles))
    except Exception:  # noqa: BLE001 # a decoder that raises fails the case, whatever it raises
        return True


@pytest.mark.parametrize("kill", kills_of("framing"), ids=lambda kill: kill["becomes"])
def test_the_kill_turns_its_framing_cases_red(kill):
    """One changed line of the decoder turns each of the cases named red."""
    module, code = changed(kill)
    assert module == DECODER
    decoder = decoder_of(code)
    assert {name: is_framed_wrongly(decoder, FRAMING[name]) for name in kill["cases"]} == (
        dict.fromkeys(kill["cases"], True)
    )


@pytest.mark.parametrize("case", FRAMING.values(), ids=lambda case: case.name)
def test_the_unchanged_decoder_turns_none_red(case):
    """What is red with a line changed is red because of it."""
    assert not is_framed_wrongly(SSEDecoder, case)


def test_each_case_has_one():
    """None is left out, and none has two."""
    named = Counter(kill["case"] for folder in FOLDERS for kill in kills_of(folder))
    assert named == dict.fromkeys(CASES, 1)
    framing = Counter(name for kill in kills_of("framing") for name in kill["cases"])
    assert framing == dict.fromkeys(FRAMING, 1)
