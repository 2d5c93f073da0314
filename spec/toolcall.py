"""The life of one tool call (contract §2): what its events may do to it.

A call that returned, or failed, is settled; nothing un-settles it. A failed call is not a failed
run. `call_id` is new exactly when nobody requested it before.
"""

from __future__ import annotations

from doneness.spec.table import Declaration, Row, State
from doneness.spec.vocabulary import CallState, Issue, Kind

UNREQUESTED = "unrequested"

STATES = (
    State(UNREQUESTED, "live", "nobody asked for this call yet"),
    State(CallState.REQUESTED, "live", "asked for; no proof that it started"),
    State(CallState.RUNNING, "live", "started; its effects may happen"),
    State(CallState.RETURNED, "ended", "it returned; no proof that it succeeded", final=True),
    State(CallState.FAILED, "ended", "it failed; the agent may recover", final=True),
)

OPEN = (CallState.REQUESTED, CallState.RUNNING)
EVERY = tuple(state.name for state in STATES)

ROWS = (
    Row((Kind.TOOL_REQUESTED,), (UNREQUESTED,), CallState.REQUESTED, why="§2: not used before"),
    Row((Kind.TOOL_STARTED,), (CallState.REQUESTED,), CallState.RUNNING, why="§2"),
    Row((Kind.TOOL_FINISHED,), OPEN, CallState.RETURNED, why="§2: requested or running"),
    Row((Kind.TOOL_FAILED,), OPEN, CallState.FAILED, why="§2: the same"),
    Row(
        (Kind.TOOL_REQUESTED, Kind.TOOL_STARTED, Kind.TOOL_FINISHED, Kind.TOOL_FAILED),
        EVERY,
        refused=Issue.BAD_PAYLOAD_OR_TRANSITION,
        otherwise=True,
        why="§3 step 8: a refused transition",
    ),
)

TOOL_CALL = Declaration(
    name="toolcall",
    title="The life of one tool call",
    states=STATES,
    initial=UNREQUESTED,
    triggers=(Kind.TOOL_REQUESTED, Kind.TOOL_STARTED, Kind.TOOL_FINISHED, Kind.TOOL_FAILED),
    rows=ROWS,
    main_line=(UNREQUESTED, CallState.REQUESTED, CallState.RUNNING, CallState.RETURNED),
)
