r"""Text that came from elsewhere, made safe to look at.

Ids, kinds, names and texts come from models, tools and strangers. Sent to a terminal as they are,
they can move the cursor, rewrite the line above, or turn the reading direction round. Here every
character that has no shape of its own is written as an escape, and the backslash too, so that
what is shown can be read back without doubt.
"""

from __future__ import annotations

from typing import Final
from unicodedata import category, east_asian_width

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}

_DEPTH_MAX: Final = 4
_ITEMS_MAX: Final = 8
_BITS_MAX: Final = 128


def visible(text: str, width_max: int | None = None) -> str:
    """The text with escapes for controls, formats (bidi among them), surrogates and the like.

    Args:
        text: Any text.
        width_max: Characters to show; what is left out is counted behind an ellipsis.
    """
    if width_max is not None and len(text) > width_max:
        return f"{visible(text[:width_max])}… ({len(text) - width_max:,} more)"
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(_shown(character) for character in text)


def brief(value: object, width_max: int = 60) -> str:
    """A JSON value on one line, short and safe to look at, whatever it holds."""
    return _brief(value, width_max, _DEPTH_MAX)


def width(text: str) -> int:
    """How many columns of a terminal a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def padded(text: str, columns: int) -> str:
    """The text with spaces up to a width."""
    return text + " " * (columns - width(text))


def _shown(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable() or category(character) == "Zs":
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def _brief(value: object, width_max: int, depth: int) -> str:
    if isinstance(value, str):
        return f'"{visible(value, width_max)}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > _BITS_MAX:
        return f"(an integer of {value.bit_length():,} bits)"
    if isinstance(value, dict):
        return _container("{", value, depth, "}")
    if isinstance(value, list):
        return _container("[", value, depth, "]")
    return visible(str(value), width_max)


def _container(
    opening: str, value: dict[str, object] | list[object], depth: int, closing: str
) -> str:
    if value and not depth:
        return f"{opening}…{closing}"
    shown = []
    for number, item in enumerate(value):
        if number == _ITEMS_MAX:
            shown.append(f"… ({len(value) - number:,} more)")
            break
        name = f"{_brief(item, 30, 0)}: " if isinstance(value, dict) else ""
        member = value[str(item)] if isinstance(value, dict) else item
        shown.append(f"{name}{_brief(member, 30, depth - 1)}")
    return f"{opening}{', '.join(shown)}{closing}"
