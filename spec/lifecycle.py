"""The life of one run (contract §§2-3, steps 6 to 8): every status, its triggers and guards.

States are finer than statuses. An approval that is pending and a run that ended paused both show
*waiting*, but only one of them can still go on. The connection's end is a trigger like any other:
before the run ended it cuts the run short, after that it only closes the door.

A contradiction does not move this machine: it is the business of `spec.admission.EVIDENCE`,
which then hides the status shown here, for good.
"""

from __future__ import annotations

from doneness.spec.table import STAYS, Declaration, Row, State, names
from doneness.spec.vocabulary import Issue, Kind, Outcome, Status

RUNNING = "running"
CANCELLING = "cancelling"
APPROVAL_PENDING = "approval_pending"
UNRESOLVED = "unresolved"
RECOVERED = "recovered"
CUT = "cut"
CUT_WAITING = "cut_waiting"
CHECKING = "checking"
DONE = "done"
REJECTED = "rejected"
PAUSED = "paused"
CANCELLED = "cancelled"
FAILED = "failed"
INCOMPLETE = "incomplete"

STATES = (
    State(RUNNING, "live", "events arrive, nothing is concluded", Status.RUNNING),
    State(
        CANCELLING, "live", "a cancel was requested, its end is not confirmed", Status.CANCELLING
    ),
    State(APPROVAL_PENDING, "live", "somebody must approve; the run has not ended", Status.WAITING),
    State(UNRESOLVED, "live", "a model response ended badly, nobody concluded", Status.UNKNOWN),
    State(RECOVERED, "live", "so it was, but a later response completed", Status.UNKNOWN),
    State(CUT, "unknown", "the connection ended before the run did", Status.UNKNOWN, final=True),
    State(CUT_WAITING, "unknown", "likewise, with an approval pending", Status.WAITING, final=True),
    State(CHECKING, "ended", "succeeded; the application has not judged", Status.CHECKING, True),
    State(DONE, "ended", "succeeded, and the application accepted it", Status.DONE, True),
    State(REJECTED, "ended", "succeeded, and the application refused it", Status.REJECTED, True),
    State(PAUSED, "ended", "ended for an approval; a new run resumes", Status.WAITING, True),
    State(CANCELLED, "ended", "ended by a cancel; effects may remain", Status.CANCELLED, True),
    State(FAILED, "ended", "ended by a failure", Status.FAILED, True),
    State(INCOMPLETE, "ended", "ended before it was complete", Status.INCOMPLETE, True),
)

LIVE = names(STATES, "live")
CUT_SHORT = names(STATES, "unknown")
ENDED = names(STATES, "ended")

# Triggers: the kinds, told apart by what their payload decides, and the end of the connection.
SUCCEEDED, PAUSES, IS_CANCELLED, FAILS, STOPS_INCOMPLETE = (
    f"{Kind.RUN_ENDED}/{outcome}"
    for outcome in (
        Outcome.SUCCEEDED,
        Outcome.PAUSED,
        Outcome.CANCELLED,
        Outcome.FAILED,
        Outcome.INCOMPLETE,
    )
)
CHECKED_OK = f"{Kind.APP_CHECKED}/ok"
CHECKED_NOT_OK = f"{Kind.APP_CHECKED}/not_ok"
CHECKED_BADLY = f"{Kind.APP_CHECKED}/bad_payload"
BAD_PAYLOAD = "any_other/bad_payload"
UNKNOWN_KIND = "any_other/unknown_kind"
EOF = "eof"

ACTIVITY = (Kind.TEXT_DELTA, Kind.MODEL_COMPLETED, Kind.MODEL_UNRESOLVED)
CALLS = (Kind.TOOL_REQUESTED, Kind.TOOL_STARTED, Kind.TOOL_FINISHED, Kind.TOOL_FAILED)
REQUESTS = (Kind.APPROVAL_WAIT, Kind.CANCEL_REQUESTED)
ENDS = (SUCCEEDED, PAUSES, IS_CANCELLED, FAILS, STOPS_INCOMPLETE)
CHECKS = (CHECKED_OK, CHECKED_NOT_OK, CHECKED_BADLY)
STRANGE = (BAD_PAYLOAD, UNKNOWN_KIND)

TRIGGERS = (*ACTIVITY, *CALLS, *REQUESTS, *ENDS, *CHECKS, *STRANGE, EOF)
EVENTS = TRIGGERS[:-1]

FACTS = {
    "call_moves": "the life of the call that the event names allows it",
    "calls_settled": "every call returned or failed",
    "cancel_requested": "a cancel request was accepted",
    "closed": "the connection ended",
    "digest_matches": "the digest is that of the final text",
    "final_text": "the event carries a final text",
    "waiting": "an approval wait was accepted",
}

EFFECTS = {
    "append_text": "the text grows by the event's text",
    "close": "the connection's end is on record",
    "conclude": "the outcome is the terminal, its final text is kept, waiting is: it paused",
    "judge": "the verdict is on record",
    "move_call": "the call moves as its life says",
    "mark_unresolved": "a response that ended badly is on record, and no later one completed",
    "record_response": "the response id is on record",
    "recover": "a response completed after the last one that ended badly",
    "request_cancel": "a cancel request is on record",
    "wait": "an approval wait is on record",
}

ROWS = (
    # Activity in a live run.
    Row((Kind.TEXT_DELTA,), LIVE, STAYS, effects=("append_text",), why="§2"),
    Row(
        (Kind.MODEL_COMPLETED,),
        (RUNNING, CANCELLING, APPROVAL_PENDING, RECOVERED),
        STAYS,
        effects=("record_response",),
        why="§2: recorded, nothing else, however often",
    ),
    Row(
        (Kind.MODEL_COMPLETED,),
        (UNRESOLVED,),
        RECOVERED,
        effects=("record_response", "recover"),
        why="a later response completed, so a success is possible again",
    ),
    Row(
        (Kind.MODEL_UNRESOLVED,),
        LIVE,
        UNRESOLVED,
        effects=("mark_unresolved",),
        why="a response ended badly: unknown until the owner ends the run",
    ),
    Row(CALLS, LIVE, STAYS, ("call_moves",), ("move_call",), why="§2, and the call's own life"),
    Row(
        CALLS,
        LIVE,
        refused=Issue.BAD_PAYLOAD_OR_TRANSITION,
        otherwise=True,
        why="§3 step 8: a refused transition",
    ),
    Row(
        (Kind.APPROVAL_WAIT,),
        (RUNNING, CANCELLING, APPROVAL_PENDING),
        APPROVAL_PENDING,
        effects=("wait",),
        why="§3: waiting is shown before cancelling",
    ),
    Row((Kind.APPROVAL_WAIT,), (UNRESOLVED, RECOVERED), STAYS, effects=("wait",), why="§2"),
    Row(
        (Kind.CANCEL_REQUESTED,),
        (RUNNING, CANCELLING),
        CANCELLING,
        effects=("request_cancel",),
        why="§2",
    ),
    Row(
        (Kind.CANCEL_REQUESTED,),
        (APPROVAL_PENDING, UNRESOLVED, RECOVERED),
        STAYS,
        effects=("request_cancel",),
        why="§3: what is shown comes before cancelling",
    ),
    # The owner's conclusion.
    Row(
        (SUCCEEDED,),
        (RUNNING, RECOVERED),
        CHECKING,
        ("final_text", "calls_settled", "not waiting", "not cancel_requested"),
        ("conclude",),
        why="§2: not while waiting, after a cancel request, without a text, with an open call",
    ),
    Row(
        (SUCCEEDED,),
        (RUNNING, RECOVERED),
        refused=Issue.BAD_PAYLOAD_OR_TRANSITION,
        otherwise=True,
        why="§2: contradictory, and refused",
    ),
    Row(
        (SUCCEEDED,),
        (CANCELLING, APPROVAL_PENDING, UNRESOLVED),
        refused=Issue.BAD_PAYLOAD_OR_TRANSITION,
        why="§2: contradictory, and refused",
    ),
    Row((PAUSES,), LIVE, PAUSED, effects=("conclude",), why="§2: open calls stay as they are"),
    Row((IS_CANCELLED,), LIVE, CANCELLED, effects=("conclude",), why="§2: likewise"),
    Row((FAILS,), LIVE, FAILED, effects=("conclude",), why="§2: likewise"),
    Row((STOPS_INCOMPLETE,), LIVE, INCOMPLETE, effects=("conclude",), why="§2: likewise"),
    # The application's verdict.
    Row(
        (CHECKED_OK,),
        (CHECKING,),
        DONE,
        ("not closed", "digest_matches"),
        ("judge",),
        why="§2: once, bound to the text",
    ),
    Row(
        (CHECKED_NOT_OK,),
        (CHECKING,),
        REJECTED,
        ("not closed", "digest_matches"),
        ("judge",),
        why="§2: likewise",
    ),
    Row(
        CHECKS,
        ENDED,
        guards=("closed",),
        refused=Issue.EVENT_AFTER_TRANSPORT_CLOSE,
        why="§3 step 6",
    ),
    Row(
        CHECKS,
        ENDED,
        refused=Issue.BAD_PAYLOAD_OR_TRANSITION,
        otherwise=True,
        why="§3 step 8: a bad check",
    ),
    Row(CHECKS, LIVE, refused=Issue.BAD_PAYLOAD_OR_TRANSITION, why="§2: only after a success"),
    # What nobody may say.
    Row((BAD_PAYLOAD,), LIVE, refused=Issue.BAD_PAYLOAD_OR_TRANSITION, why="§3 step 8"),
    Row((UNKNOWN_KIND,), LIVE, refused=Issue.UNKNOWN_EVENT, why="§3 step 8"),
    Row(
        (*ACTIVITY, *CALLS, *REQUESTS, *ENDS, *STRANGE),
        ENDED,
        guards=("closed",),
        refused=Issue.EVENT_AFTER_TRANSPORT_CLOSE,
        why="§3 step 6 comes before step 7",
    ),
    Row(
        (*ACTIVITY, *CALLS, *REQUESTS, *ENDS, *STRANGE),
        ENDED,
        refused=Issue.EVENT_AFTER_TERMINAL,
        otherwise=True,
        why="§3 step 7: after a terminal, anything but a check",
    ),
    Row(EVENTS, CUT_SHORT, refused=Issue.EVENT_AFTER_TRANSPORT_CLOSE, why="§3 step 6"),
    # The end of the connection.
    Row(
        (EOF,),
        (RUNNING, CANCELLING, UNRESOLVED, RECOVERED),
        CUT,
        effects=("close",),
        why="§3: EOF proves nothing",
    ),
    Row((EOF,), (APPROVAL_PENDING,), CUT_WAITING, effects=("close",), why="§3: also after EOF"),
    Row((EOF,), (*CUT_SHORT, *ENDED), STAYS, effects=("close",), why="§3: nothing else"),
)

LIFECYCLE = Declaration(
    name="lifecycle",
    title="The life of a run",
    states=STATES,
    initial=RUNNING,
    triggers=TRIGGERS,
    rows=ROWS,
    facts=FACTS,
    effects=EFFECTS,
    main_line=(RUNNING, CHECKING, DONE),
)
