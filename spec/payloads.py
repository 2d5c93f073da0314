"""The payload of each kind (contract §2): exactly these keys, each of this form."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from doneness.spec.vocabulary import Kind

TEXT: Final = "text"
NON_EMPTY: Final = "non-empty text"
NON_EMPTY_OR_NULL: Final = "non-empty text, or null"
TEXT_OR_NULL: Final = "text, or null"
OUTCOME: Final = "an outcome"
FLAG: Final = "true or false"

SHAPES: Final = MappingProxyType(
    {
        Kind.TEXT_DELTA: {"text": TEXT},
        Kind.MODEL_COMPLETED: {"response_id": NON_EMPTY},
        Kind.MODEL_UNRESOLVED: {"response_id": NON_EMPTY_OR_NULL, "reason": TEXT},
        Kind.TOOL_REQUESTED: {"call_id": NON_EMPTY},
        Kind.TOOL_STARTED: {"call_id": NON_EMPTY},
        Kind.TOOL_FINISHED: {"call_id": NON_EMPTY},
        Kind.TOOL_FAILED: {"call_id": NON_EMPTY},
        Kind.APPROVAL_WAIT: {},
        Kind.CANCEL_REQUESTED: {},
        Kind.RUN_ENDED: {"outcome": OUTCOME, "final_text": TEXT_OR_NULL},
        Kind.APP_CHECKED: {"digest": TEXT, "ok": FLAG},
    }
)
