"""How often the last `pytest -m model` exercised each pair of state and trigger, on the diagram.

The file is what the checks leave behind: `{declaration: {"state|trigger": count}}`. A pair may
have several arrows, told apart by guards; the count is that of the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from doneness.diagrams.model import Arrow, Chart
from doneness.diagrams.overlay import Overlay

FILE: Final = ".doneness/coverage.json"
NAMED_MAX: Final = 8
"""So many pairs that were never exercised are named in the legend."""

WIDTHS: Final = (
    "×: how often the pair was exercised; lines are wider by a step for each factor of ten, and "
    "dashed for never."
)

Counts = dict[str, dict[str, int]]


class CoverageError(Exception):
    """The file does not say what was exercised."""


def read(path: Path) -> Counts:
    """The counts in a file.

    Raises:
        CoverageError: it cannot be read, or is not of the form above.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Counts)
    except OSError as error:
        raise CoverageError(
            f"cannot read {path}: {error.strerror}; `pytest -m model` leaves it behind"
        ) from error
    except msgspec.DecodeError as error:
        raise CoverageError(
            f"{path} is no coverage file, {{declaration: {{state|trigger: count}}}}: {error}"
        ) from error


def exercised(chart: Chart, counts: Mapping[str, int]) -> Overlay:
    """What is drawn on top of a chart.

    Raises:
        CoverageError: the counts name pairs that the declaration does not have.
    """
    pairs = list(dict.fromkeys(_pair(arrow) for arrow in chart.arrows))
    strange = sorted(counts.keys() - set(pairs))
    if strange:
        raise CoverageError(
            f"the coverage of {chart.name} names {strange[0]}, which is not declared: the file is "
            "of another revision; run `pytest -m model` again"
        )
    never = [pair for pair in pairs if not counts.get(pair)]
    total = sum(counts.values())
    named = ", ".join(never[:NAMED_MAX]) + (", and more" if len(never) > NAMED_MAX else "")
    return Overlay(
        count=lambda arrow: counts.get(_pair(arrow), 0),
        legend=(
            f"Exercised: {len(pairs) - len(never):,} of {len(pairs):,} pairs of state and "
            f"trigger, {total:,} times in all." + (f" Never: {named}." if never else ""),
            WIDTHS,
        ),
    )


def _pair(arrow: Arrow) -> str:
    return f"{arrow.source}|{arrow.trigger}"
