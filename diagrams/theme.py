"""Colours for a light and a dark page.

The hues are from the palette of Okabe and Ito, which people with any colour vision tell apart; no
meaning hangs on a hue alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from doneness.diagrams.drawing import Mark


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a page.

    Attributes:
        ink: Words and lines.
        faint: What stays in the background.
        fills: The box of a state, by group; `strong` is the good end.
        lines: The lines of what is marked.
    """

    name: str
    page: str
    ink: str
    faint: str
    frame: str
    fills: dict[str, str]
    lines: dict[Mark, str]


LIGHT = Theme(
    name="light",
    page="#ffffff",
    ink="#1b1f24",
    faint="#6e7781",
    frame="#9aa3ad",
    fills={"live": "#dceefb", "ended": "#eceff1", "unknown": "#fbe7d0", "good": "#c5ead9"},
    lines={
        Mark.ADDED: "#00664b",
        Mark.REMOVED: "#a33f00",
        Mark.CHANGED: "#0059a3",
        Mark.BEFORE: "#0059a3",
        Mark.WALKED: "#0059a3",
        Mark.LEFT: "#a33f00",
        Mark.MISSED: "#a33f00",
    },
)
DARK = Theme(
    name="dark",
    page="#0d1117",
    ink="#e6edf3",
    faint="#7d8590",
    frame="#6e7781",
    fills={"live": "#12324d", "ended": "#262c34", "unknown": "#4a3010", "good": "#0f4a35"},
    lines={
        Mark.ADDED: "#3fd6a8",
        Mark.REMOVED: "#ff9d5c",
        Mark.CHANGED: "#6cbcff",
        Mark.BEFORE: "#6cbcff",
        Mark.WALKED: "#6cbcff",
        Mark.LEFT: "#ff9d5c",
        Mark.MISSED: "#ff9d5c",
    },
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}
