"""How the project's own decoder is used in checks: both policies, and limits of three widths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from doneness.generators.checks.framing import Setting
from doneness.generators.framing_oracle import NO_LIMITS, FramingLimits

LIMITS: Final = FramingLimits(
    line_bytes_max=12, event_chars_max=3, id_chars_max=1, retry_digits_max=1
)
NARROW: Final = FramingLimits(
    line_bytes_max=1, event_chars_max=1, id_chars_max=1, retry_digits_max=1
)
TIGHT: Final = FramingLimits(
    line_bytes_max=6, event_chars_max=1, id_chars_max=1, retry_digits_max=1
)
"""`retry:` just fits."""

SETTINGS: Final[Mapping[str, Setting]] = {
    "strict": Setting("strict", exact=True),
    "replace": Setting("replace", exact=True),
    "limited": Setting("strict", LIMITS, exact=True),
    "tight": Setting("replace", TIGHT, exact=True),
    "narrow": Setting("replace", NARROW, exact=True),
}


def keywords(setting: Setting) -> dict[str, int]:
    """What a decoder is told, so that it is limited as the setting says."""
    return {} if setting.limits is NO_LIMITS else setting.limits._asdict()
