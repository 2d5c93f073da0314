"""What a decoder must do that no list of events shows: every partition, and the end.

Each check takes the module of the decoder, as it is installed or changed, and yields what is
wrong, a line each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Final

from doneness.fixtures.framing_cases import framing_cases
from doneness.generators.checks import framing_costs, framing_kept, framing_telling
from doneness.generators.checks.framing import check_ended, check_pending_error, every_partition
from doneness.generators.checks.framing_settings import SETTINGS, keywords
from doneness.generators.framing_streams import random_stream

SHORT_BYTES: Final = 40
"""The work of an argument for all partitions grows with the square of the stream."""

SEED: Final = 1
PARTITIONED: Final = 5


def ended(machine: SimpleNamespace) -> Iterator[str]:
    """What can still be fed after the end, or after an error."""
    decoder = machine.decoder.SSEDecoder
    found = (
        check_ended(partial(decoder, "strict"), "strict"),
        check_ended(partial(decoder, "replace"), "replace"),
        check_pending_error(decoder),
    )
    yield from filter(None, found)


def partitions(machine: SimpleNamespace) -> Iterator[str]:
    """Partitions that can be seen: of the shorter cases, and of random streams."""
    decoder = machine.decoder.SSEDecoder
    for case in framing_cases():
        if len(case.wire) <= SHORT_BYTES:
            yield from filter(None, [every_partition(partial(decoder, "replace"), case.wire)])
    for setting in SETTINGS.values():
        random = Random(SEED)  # noqa: S311 # repeatable, not secret
        for _ in range(PARTITIONED):
            wire = random_stream(random, wrong=random.random() < 0.3)
            factory = partial(decoder, setting.errors, **keywords(setting))
            yield from filter(None, [every_partition(factory, wire)])


FRAMING_PARTS: Final[Mapping[str, Callable[[SimpleNamespace], Iterator[str]]]] = {
    "framing/telling": framing_telling.unexpected,
    "framing/costs": framing_costs.unexpected,
    "framing/kept": framing_kept.unexpected,
    "framing/ended": ended,
    "framing/partitions": partitions,
}


def own_decoder() -> SimpleNamespace:
    """The decoder as it is installed."""
    names = ("decoder", "errors", "events")
    return SimpleNamespace(
        **{name: import_module(f"doneness.machine.framing.{name}") for name in names}
    )
