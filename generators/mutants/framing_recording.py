"""The decoder's recordings: every stream that the checks of framing put together, and its outcome.

As for the reducer: what is declared for a stream is asked once. A mutant is fed the recorded
streams, cut as they were; where it shows something else than the right decoder, the declaration
is asked again whether that is a divergence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from doneness.fixtures.framing_cases import framing_cases
from doneness.generators.checks import framing as checks
from doneness.generators.checks.framing import Setting, Verdict
from doneness.generators.checks.framing_settings import SETTINGS, keywords
from doneness.generators.framing_oracle import FramingLimits, framed
from doneness.generators.mutants.recording import RedBaselineError
from doneness.generators.subjects.framing import Chunks, Framed, Policy, PythonDecoder
from doneness.machine.framing import SSEDecoder

SEED: Final = 1
EXAMPLES: Final = 500

FILLING: Final = 90
"""Bytes of a text that makes a chunk a long one."""

REGULAR: Final = ("strict", "replace")
"""The settings in which regular streams are tried."""

LONG_LINES: Final = {
    "strict": SETTINGS["strict"],
    "limited": SETTINGS["limited"],
    "long": Setting("strict", FramingLimits(line_bytes_max=210, event_chars_max=140), exact=True),
    "large": Setting("strict", FramingLimits(line_bytes_max=7_005), exact=True),
}
"""The settings in which long lines are tried."""


@dataclass(frozen=True, slots=True)
class FramingRecording:
    """The streams of one check in one setting, with what the right decoder made of them."""

    name: str
    setting: Setting
    streams: Sequence[tuple[Chunks, Framed]]

    def first_difference(
        self, factory: Callable[..., Any], before_each: Callable[[], object] = lambda: None
    ) -> str | None:
        """The first divergence of a decoder, shrunk, in words."""
        try:
            return self._first_difference(factory, before_each)
        except Exception as error:  # noqa: BLE001 # whatever it raises is the finding
            return f"raised {type(error).__name__}"

    def _first_difference(
        self, factory: Callable[..., Any], before_each: Callable[[], object]
    ) -> str | None:
        subject = PythonDecoder("a mutant", partial(factory, **keywords(self.setting)))
        for chunks, expected in self.streams:
            before_each()
            [shown] = subject.frame([chunks], self.setting.errors)
            if shown != expected and (reason := self._reason(subject, chunks, shown)):
                return reason
        return None

    def _reason(self, subject: PythonDecoder, chunks: Chunks, shown: Framed) -> str | None:
        """Why what is shown is a divergence; shrunk, if the stream is a short one."""
        wire = b"".join(chunks)
        if len(wire) > checks.LONG_BYTES:
            oracle = framed(wire, self.setting.errors, self.setting.limits)
            return checks.difference(oracle, chunks, shown, self.setting)
        found = checks.shrink(subject, self.name, tuple(chunks), self.setting)
        return f"{found.chunks}: {found.reason}" if found else None


class _Recorder:
    """The right decoder; keeps what it is asked, each stream in each cut once."""

    def __init__(self, setting: Setting) -> None:
        self._own = PythonDecoder("SSEDecoder", partial(SSEDecoder, **keywords(setting)))
        self.name = self._own.name
        self.policies = self._own.policies
        self.kept: dict[Chunks, Framed] = {}

    def frame(self, streams: Sequence[Chunks], errors: Policy = "strict") -> list[Framed]:
        shown = self._own.frame(streams, errors)
        self.kept.update(zip(map(tuple, streams), shown, strict=True))
        return shown

    def close(self) -> None:
        """Do nothing."""


def _recorded(
    name: str, setting: Setting, check: Callable[[_Recorder, Setting], Verdict]
) -> FramingRecording:
    recorder = _Recorder(setting)
    verdict = check(recorder, setting)
    if verdict.divergence is not None:
        raise RedBaselineError(
            f"{name} fails on the decoder as it is: {verdict.divergence.reason}; make it pass first"
        )
    return FramingRecording(name, setting, tuple(recorder.kept.items()))


@cache
def framing_recordings() -> tuple[FramingRecording, ...]:
    """Every check of framing that compares with the declaration, in the order of their cost.

    Raises:
        RedBaselineError: the decoder as it is fails one.
    """
    wires = [case.wire for case in framing_cases()]

    def cases(recorder: _Recorder, setting: Setting) -> Verdict:
        return checks.check_cuts(recorder, wires, setting)

    def at_random(recorder: _Recorder, setting: Setting) -> Verdict:
        return checks.check_random(recorder, SEED, EXAMPLES, setting)

    def regular(recorder: _Recorder, setting: Setting) -> Verdict:
        return checks.check_regular(recorder, setting, FILLING)

    return (
        _recorded("framing/cases", SETTINGS["replace"], cases),
        *(
            _recorded(f"framing/exploration/{name}", one, checks.explore)
            for name, one in SETTINGS.items()
        ),
        *(_recorded(f"framing/random/{name}", one, at_random) for name, one in SETTINGS.items()),
        *(_recorded(f"framing/regular/{name}", SETTINGS[name], regular) for name in REGULAR),
        *(
            _recorded(f"framing/long lines/{name}", one, checks.check_long_lines)
            for name, one in LONG_LINES.items()
        ),
    )
