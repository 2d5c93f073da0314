"""The payload of each kind, as the machine reads it (contract §2): exactly these keys.

msgspec validates them: a missing key, one too many, an empty id or a wrong type is refused.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec

from doneness.spec.vocabulary import Kind, Outcome

_NonEmpty: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class _Payload(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Nothing(_Payload):
    """No key at all."""


class Text(_Payload):
    """A piece of text; may be empty."""

    text: str


class Response(_Payload):
    """A model response that completed."""

    response_id: _NonEmpty


class UnresolvedResponse(_Payload):
    """A model response that ended badly; which one may be unknown."""

    response_id: _NonEmpty | None
    reason: str


class Call(_Payload):
    """One tool call."""

    call_id: _NonEmpty


class End(_Payload):
    """The host's conclusion about the run."""

    outcome: Outcome
    final_text: str | None


class Check(_Payload):
    """The application's verdict, bound to a result by its digest."""

    digest: str
    ok: bool


PAYLOADS: Final[dict[str, type[_Payload]]] = {
    Kind.TEXT_DELTA: Text,
    Kind.MODEL_COMPLETED: Response,
    Kind.MODEL_UNRESOLVED: UnresolvedResponse,
    Kind.TOOL_REQUESTED: Call,
    Kind.TOOL_STARTED: Call,
    Kind.TOOL_FINISHED: Call,
    Kind.TOOL_FAILED: Call,
    Kind.APPROVAL_WAIT: Nothing,
    Kind.CANCEL_REQUESTED: Nothing,
    Kind.RUN_ENDED: End,
    Kind.APP_CHECKED: Check,
}
