"""The agent loop's event stream (contract §6): which sequences of events are legal.

Read as a machine, the contract's two tables say: a model call begins with `iteration_start`, may
speak, may report its usage, and then either answers (`done`), fails (`error`) or has tools run,
one after the other, each closed by its own result before anything else is said. After a result
the next tool or the next model call follows; an `error` there can only be the round limit.
A consumer may stop at any time; that is an end of its own and never shown as done.
"""

from __future__ import annotations

from doneness.spec.table import STAYS, Declaration, Row, State, names
from doneness.spec.vocabulary import Issue

IDLE = "idle"
ASKING = "asking"
COUNTED = "counted"
CALLING = "calling"
RETURNED = "returned"
DONE = "done"
ERROR = "error"
STOPPED = "stopped"

STATES = (
    State(IDLE, "live", "nothing has run: the generator is lazy"),
    State(ASKING, "live", "the model is called, and may speak"),
    State(COUNTED, "live", "the model call is over, and reported its usage"),
    State(CALLING, "live", "a tool runs"),
    State(RETURNED, "live", "a tool has run; another one or the next model call follows"),
    State(DONE, "ended", "the model answered without a tool call", final=True),
    State(ERROR, "ended", "the loop cannot go on", final=True),
    State(STOPPED, "unknown", "the consumer stopped early", final=True),
)

LIVE = names(STATES, "live")
OVER = (DONE, ERROR, STOPPED)

ITERATION_START = "iteration_start"
TOKEN = "token"  # noqa: S105 - a piece of text, not a secret
USAGE = "usage"
TOOL_START = "tool_start"
TOOL_RESULT = "tool_result"
ENDS_DONE = "done"
ENDS_ERROR = "error"
UNKNOWN_TYPE = "any_other/unknown_type"
STOP = "consumer_stops"

EVENTS = (ITERATION_START, TOKEN, USAGE, TOOL_START, TOOL_RESULT, ENDS_DONE, ENDS_ERROR)
TRIGGERS = (*EVENTS, UNKNOWN_TYPE, STOP)

FACTS = {
    "new_call": "no earlier call of the run has this call_id",
    "next_round": "iteration is the number of model calls so far, plus one",
    "rounds_left": "fewer model calls were made than the round limit allows",
    "same_call": "call_id and name are those of the tool that runs",
}

_OUT_OF_PLACE = Issue.BAD_PAYLOAD_OR_TRANSITION

ROWS = (
    # A model call.
    Row(
        (ITERATION_START,),
        (IDLE, RETURNED),
        ASKING,
        ("next_round", "rounds_left"),
        why="§6: before each model call, from 1",
    ),
    Row((ITERATION_START,), (IDLE, RETURNED), refused=_OUT_OF_PLACE, otherwise=True, why="§6"),
    Row(
        (ITERATION_START,),
        (ASKING, COUNTED, CALLING),
        refused=_OUT_OF_PLACE,
        why="§6: a model call ends in an answer, an error, or tools that returned",
    ),
    Row((TOKEN,), (ASKING,), STAYS, why="§6: each streamed piece of text"),
    Row((USAGE,), (ASKING,), COUNTED, why="§6: after the model call, once, if it reports it"),
    Row(
        (TOKEN, USAGE),
        (IDLE, COUNTED, CALLING, RETURNED),
        refused=_OUT_OF_PLACE,
        why="§6: only a model call speaks, and its usage comes after it",
    ),
    # Tools.
    Row(
        (TOOL_START,),
        (ASKING, COUNTED, RETURNED),
        CALLING,
        ("new_call",),
        why="§6: before a tool runs, one at a time, in order",
    ),
    Row(
        (TOOL_START,), (ASKING, COUNTED, RETURNED), refused=_OUT_OF_PLACE, otherwise=True, why="§6"
    ),
    Row(
        (TOOL_START,),
        (IDLE, CALLING),
        refused=_OUT_OF_PLACE,
        why="§6: each tool_start is followed by its one tool_result",
    ),
    Row((TOOL_RESULT,), (CALLING,), RETURNED, ("same_call",), why="§6: same call_id"),
    Row((TOOL_RESULT,), (CALLING,), refused=_OUT_OF_PLACE, otherwise=True, why="§6"),
    Row(
        (TOOL_RESULT,),
        (IDLE, ASKING, COUNTED, RETURNED),
        refused=_OUT_OF_PLACE,
        why="§6: a result without its start",
    ),
    # The end.
    Row((ENDS_DONE,), (ASKING, COUNTED), DONE, why="§6: answered without a tool call"),
    Row(
        (ENDS_DONE,),
        (IDLE, CALLING, RETURNED),
        refused=_OUT_OF_PLACE,
        why="§6: after a tool the model is asked again",
    ),
    Row((ENDS_ERROR,), (ASKING, COUNTED), ERROR, why="§6: the model call failed"),
    Row((ENDS_ERROR,), (RETURNED,), ERROR, ("not rounds_left",), why="§6: the round limit"),
    Row(
        (ENDS_ERROR,),
        (RETURNED,),
        refused=_OUT_OF_PLACE,
        otherwise=True,
        why="§6: a failed tool is no failed run",
    ),
    Row((ENDS_ERROR,), (IDLE, CALLING), refused=_OUT_OF_PLACE, why="§6: nothing failed yet"),
    # What nobody may say.
    Row((UNKNOWN_TYPE,), LIVE, refused=Issue.UNKNOWN_EVENT, why="§6: the types are a closed list"),
    Row(
        (*EVENTS, UNKNOWN_TYPE),
        OVER,
        refused=Issue.EVENT_AFTER_TERMINAL,
        why="§6: exactly one done or error, and it is the last",
    ),
    # The consumer.
    Row((STOP,), LIVE, STOPPED, why="§6: stops the run cleanly, never shown as done"),
    Row((STOP,), OVER, STAYS, why="§6: there is nothing left to stop"),
)

AGENT_LOOP = Declaration(
    name="loop",
    title="The agent loop's event stream",
    states=STATES,
    initial=IDLE,
    triggers=TRIGGERS,
    rows=ROWS,
    facts=FACTS,
    main_line=(IDLE, ASKING, CALLING, RETURNED, DONE),
)
