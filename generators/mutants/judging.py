"""Judging: the checks that a mutant must fail, cheapest first, and what the first failure says.

A mutant is *killed* by a check that the unchanged machine passes. One whose loop never ends is
*endless*: that is counted by turns, not by a clock, and is no kill. One that is stopped by the
clock is *timed out*: no kill either. What fails no check *survived*.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import FrameType, SimpleNamespace
from typing import Final, Literal

from doneness.generators.checks.framing_parts import FRAMING_PARTS
from doneness.generators.checks.framing_settings import SETTINGS
from doneness.generators.checks.parts import PARTS
from doneness.generators.checks.short_streams import FAMILIES, check_streams
from doneness.generators.divergence import shrink
from doneness.generators.exploration import RUN
from doneness.generators.moves import Template
from doneness.generators.mutants.framing_recording import (
    LONG_LINES,
    REGULAR,
    FramingRecording,
    framing_recordings,
)
from doneness.generators.mutants.loading import MODULES, PREFIX, loaded, source_of
from doneness.generators.mutants.recording import Recording, RedBaselineError, recordings
from doneness.generators.mutants.sites import TURN, Mutant, unchanged
from doneness.generators.subject import PythonSubject

TURNS_MAX: Final = 10_000_000
"""How often the loops of a module may turn within one check of a part, if it is unchanged."""

TURNS_RATIO_MAX: Final = 3
"""How much more often those of a changed one may."""

TURNS_PER_EVENT_MAX: Final = 2_000
"""How often they may turn for one event of the exploration."""

_FRAMING: Final = (
    "framing/telling",
    "framing/costs",
    "framing/kept",
    "framing/ended",
    "framing/cases",
    *(f"framing/random/{name}" for name in SETTINGS),
    *(f"framing/long lines/{name}" for name in LONG_LINES),
    *(f"framing/regular/{name}" for name in REGULAR),
    *(f"framing/exploration/{name}" for name in SETTINGS),
    "framing/partitions",
)

STREAMS: Final = ("behind",)
"""Families of short streams that find what no other check does."""

CHECKS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "content": ("fingerprints", "telling", "exploration/payloads", "hostile objects"),
    "json_text": ("exploration/payloads, bytes", "parsing"),
    "payloads": ("exploration/payloads", "exploration/lifecycle", "exploration/payloads, bytes"),
    "memory": ("exploration/payloads", "telling", "exploration/numbers", "costs"),
    "producer": ("producing",),
    "acceptance": ("producing",),
    "reducer": (
        "exploration/payloads",
        "exploration/lifecycle",
        "exploration/numbers",
        "exploration/payloads, bytes",
        "exploration/numbers, bytes",
        "telling",
        "costs",
        "exploration/evidence",
        "producing",
        "hostile objects",
        "interrupts",
        *(f"streams/{family}" for family in STREAMS),
    ),
    "framing.errors": _FRAMING,
    "framing.events": _FRAMING,
    "framing.decoder": _FRAMING,
}
"""What is asked about a change of each module, in this order."""

SECONDS_MAX: Final = 60
"""Of the processor's time: how busy the machine is with other things does not count."""

EVENTS_MAX: Final = 6
"""A stream that shows a fault should need no more events."""

Outcome = Literal["killed", "survived", "endless", "timed out"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant.

    Attributes:
        check: The check that decided; empty where it survived.
        events: How many events show it, where a stream does.
        finding: What was wrong.
    """

    outcome: Outcome
    check: str = ""
    events: int | None = None
    finding: str = ""


class _EndlessError(BaseException):  # not an Exception: the machine catches those
    pass


class _TimedOutError(BaseException):
    pass


class Fuel:
    """What loops use up: each of their turns calls it."""

    def __init__(self) -> None:
        self.left = TURNS_MAX

    def __call__(self) -> None:
        """One turn."""
        self.left -= 1
        if self.left < 0:
            raise _EndlessError

    def refill(self, turns_max: int = TURNS_PER_EVENT_MAX) -> None:
        """Allow so many turns from now on."""
        self.left = turns_max


Found = tuple[str, int | None] | None
Check = Callable[[SimpleNamespace, Fuel], Found]
"""Takes a machine; what is wrong with it and how many events show that, if anything is."""


def _by_recording(recording: Recording) -> Check:
    def check(machine: SimpleNamespace, fuel: Fuel) -> Found:
        found = recording.first_difference(machine.reducer.Progress, fuel.refill)
        if found is None:
            return None
        templates, finding = found
        return finding, _fewest(machine, recording, templates)

    return check


def _by_framing(recording: FramingRecording) -> Check:
    def check(machine: SimpleNamespace, fuel: Fuel) -> Found:
        finding = recording.first_difference(machine.decoder.SSEDecoder, fuel.refill)
        return None if finding is None else (finding, None)

    return check


def _by_streams(family: str) -> Check:
    def check(machine: SimpleNamespace, fuel: Fuel) -> Found:
        fuel.refill(TURNS_MAX)
        subject = PythonSubject("a mutant", machine.reducer.Progress)
        _tried, found = check_streams(subject, f"streams/{family}", FAMILIES[family]())
        return (
            None
            if found is None
            else ("".join(found.lines[-1].explained()[:1]).strip(), len(found.lines))
        )

    return check


_turns_max: Final[dict[object, int]] = {}  # by part; the first machine asked is the unchanged one


def _by_part(part: Callable[[SimpleNamespace], Iterator[str]]) -> Check:
    def check(machine: SimpleNamespace, fuel: Fuel) -> Found:
        fuel.refill(_turns_max.get(part, TURNS_MAX))
        before = fuel.left
        try:
            finding = next(iter(part(machine)), None)
        except Exception as error:  # noqa: BLE001 # a part that raises is a finding
            finding = f"raised {type(error).__name__}: {error}"
        _turns_max.setdefault(part, TURNS_RATIO_MAX * (before - fuel.left) + 1_000)
        return None if finding is None else (finding, None)

    return check


def _fewest(machine: SimpleNamespace, recording: Recording, templates: list[Template]) -> int:
    if len(templates) <= EVENTS_MAX:
        return len(templates)
    subject = PythonSubject("a mutant", machine.reducer.Progress)
    found = shrink(subject, recording.layer, RUN, templates)
    return len(found.lines) if found else len(templates)


@cache
def checks() -> Mapping[str, Check]:
    """The checks by name."""
    by_stream = {
        f"exploration/{one.layer}{', bytes' * one.as_bytes}": _by_recording(one)
        for one in recordings()
    }
    return {
        **by_stream,
        **{one.name: _by_framing(one) for one in framing_recordings()},
        **{f"streams/{family}": _by_streams(family) for family in STREAMS},
        **{name: _by_part(part) for name, part in {**PARTS, **FRAMING_PARTS}.items()},
    }


def require_green_baseline() -> None:
    """Ask every check of the machine as it is.

    Raises:
        RedBaselineError: one of them fails, so a mutant that fails it proves nothing.
    """
    as_it_is = {module: unchanged(PREFIX + module, source_of(module)) for module in MODULES}
    for name, check in checks().items():
        fuel = Fuel()
        with loaded(as_it_is, **{TURN: fuel}) as machine:
            found = check(machine, fuel)
        if found is not None:
            raise RedBaselineError(
                f"{name} fails on the machine as it is: {found[0]}; make it pass first"
            )


def judge(mutant: Mutant) -> Verdict:
    """The first check that a mutant fails."""
    module = mutant.module.removeprefix(PREFIX)
    fuel = Fuel()
    name = "loading"
    try:
        with _deadline(), loaded({module: mutant.code()}, **{TURN: fuel}) as machine:
            for name in CHECKS_OF[module]:
                found = checks()[name](machine, fuel)
                if found is not None:
                    return Verdict("killed", name, found[1], found[0])
    except _EndlessError:
        return Verdict("endless", name)
    except _TimedOutError:
        return Verdict("timed out", name)
    except Exception as error:  # it cannot even be imported
        if name != "loading":
            raise
        return Verdict("killed", name, None, f"raised {type(error).__name__}: {error}")
    return Verdict("survived")


@contextmanager
def _deadline() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TimedOutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
