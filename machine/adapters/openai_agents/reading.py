"""What one event of the SDK says: a pure function of the event, which never raises.

Items come as typed objects or as mappings, whichever the SDK had at hand, so fields are read
from either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from doneness.machine.adapters.openai_agents.classification import (
    AGENT_EVENT,
    CALLS,
    OUTPUTS,
    RAW_EVENT,
    RAW_EVENTS,
    RUN_ITEM_EVENT,
    RUN_ITEMS,
    Take,
)

SHOWN_CHARS_MAX: Final = 200
"""How much of a name that comes from outside is kept."""

Said: TypeAlias = tuple[Take, str | None, str | None]
"""What to do, with what (a text, an id or a name), and for a bad end its reason."""


def read(event: object) -> Said:
    """What an event of `stream_events()` says.

    | take | second | third |
    |---|---|---|
    | `TEXT` | the text | |
    | `COMPLETED` | the id of the response, if it has one | |
    | `UNRESOLVED` | the id of the response, if it is known | why |
    | `CALL`, `OUTPUT`, `HANDOFF` | the call id | |
    | `BLOCK` | the name of the event | |
    | `OBSERVE` | | |
    """
    try:
        said = _read(event)
    except Exception:  # noqa: BLE001 # a field is missing, or raises when it is read
        said = None
    return said or (Take.BLOCK, _name(event), None)


def _read(event: object) -> Said | None:
    kind = _text(event, "type")
    if kind == RAW_EVENT:
        return _raw(_field(event, "data"))
    if kind == RUN_ITEM_EVENT:
        return _run_item(_text(event, "name"), _field(event, "item"))
    return (Take.OBSERVE, None, None) if kind == AGENT_EVENT else None


def _raw(raw: object) -> Said | None:
    kind = _text(raw, "type")
    take = RAW_EVENTS[kind]
    match take:
        case Take.OBSERVE:
            return take, None, None
        case Take.TEXT:
            return take, _text(raw, "delta"), None
        case Take.COMPLETED:
            return take, _id(_field(raw, "response"), "id"), None
        case Take.UNRESOLVED:
            return take, _id(_optional(raw, "response"), "id"), _reason(kind, raw)
    return None


def _run_item(name: str, item: object) -> Said | None:
    take = RUN_ITEMS[name]
    if take is Take.OBSERVE:
        return take, None, None
    raw = _field(item, "raw_item")
    if take is not Take.HANDOFF:
        take = (CALLS if take is Take.CALL else OUTPUTS)[_text(raw, "type")]
        if take is Take.OBSERVE:
            return take, None, None
    call_id = _id(raw, "call_id")
    return None if call_id is None else (take, call_id, None)


def _reason(kind: str, raw: object) -> str:
    """The code that the provider gives, after the type of the event; never its free text."""
    response = _optional(raw, "response")
    for holder, name in (
        (_optional(response, "error"), "code"),
        (_optional(response, "incomplete_details"), "reason"),
        (raw, "code"),
        (_optional(raw, "error"), "code"),
    ):
        code = _optional(holder, name)
        if isinstance(code, str) and code:
            return f"{kind}: {code}"[:SHOWN_CHARS_MAX]
    return kind


def _name(event: object) -> str:
    """A name for an event that blocks: what can be read of its types, for people."""
    parts = [_optional(event, "type"), _optional(event, "name")]
    for holder in ("data", "item"):
        inner = _optional(event, holder)
        parts += [_optional(inner, "type"), _optional(_optional(inner, "raw_item"), "type")]
    said = [part for part in parts if isinstance(part, str) and part]
    return "/".join(said or [type(event).__name__])[:SHOWN_CHARS_MAX]


def _field(holder: object, name: str) -> object:
    try:
        return getattr(holder, name)
    except AttributeError:
        if not isinstance(holder, Mapping):
            raise
    value: object = holder[name]
    return value


def _optional(holder: object, name: str) -> object:
    try:
        return _field(holder, name)
    except Exception:  # noqa: BLE001 # not there, or it raises: the same here
        return None


def _text(holder: object, name: str) -> str:
    value = _field(holder, name)
    if type(value) is not str:
        raise TypeError(name)
    return value


def _id(holder: object, name: str) -> str | None:
    """An id, if there is one; a provider that gives none may leave it out or empty."""
    value = _optional(holder, name)
    return value if type(value) is str and value else None
