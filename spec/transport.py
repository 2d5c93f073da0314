"""How one run's envelopes are put back in order (contract §7), as a machine.

It is asked about numbers only. The next number is the last one handed on plus one; an envelope
that has it, but an id that was handed on before (`known_id`), moves no number, for the reducer
refuses it before it looks at the number. Nothing is refused here: every event is handed on once,
sooner or later, and the reducer judges it.
"""

from __future__ import annotations

from doneness.spec.table import STAYS, Declaration, Row, State

IN_ORDER = "in_order"
HOLDING = "something_waits"
ENDED = "ended"

STATES = (
    State(IN_ORDER, "live", "whatever has arrived is handed on"),
    State(HOLDING, "live", "what is ahead waits for what is missing before it"),
    State(ENDED, "ended", "the source has ended: nothing waits any more", final=True),
)

EVERY = (IN_ORDER, HOLDING, ENDED)

NO_PLACE = "no_place"
LATE = "late"
KNOWN_ID = "known_id"
NEXT = "next"
AHEAD = "ahead"
EOF = "eof"

TRIGGERS = (NO_PLACE, LATE, KNOWN_ID, NEXT, AHEAD, EOF)

FACTS = {
    "full": "with this one, more would wait than may",
    "gap": "something would still wait, after all that follows is handed on",
}

HAND_ON = "hand_on"
FOLLOWERS = "hand_on_followers"
HOLD = "hold"
ALL_IN_ORDER = "hand_on_all_in_order"

EFFECTS = {
    HAND_ON: "the event goes to the reducer",
    FOLLOWERS: "what waits and is next now goes to the reducer, until a number is missing",
    HOLD: "the envelope waits, as it is now",
    ALL_IN_ORDER: "what waits goes to the reducer by number: it meets the gap itself",
}

ROWS = (
    Row(
        (NO_PLACE, LATE, KNOWN_ID),
        EVERY,
        effects=(HAND_ON,),
        why="§7: what is malformed, foreign, repeated or in conflict is the reducer's to judge",
    ),
    Row((NEXT,), (IN_ORDER, ENDED), effects=(HAND_ON,), why="§7: proven gapless"),
    Row(
        (NEXT,),
        (HOLDING,),
        IN_ORDER,
        ("not gap",),
        (HAND_ON, FOLLOWERS),
        why="§7: proven gapless",
    ),
    Row(
        (NEXT,),
        (HOLDING,),
        STAYS,
        ("gap",),
        (HAND_ON, FOLLOWERS),
        why="§7: as far as it is gapless",
    ),
    Row((AHEAD,), (IN_ORDER,), HOLDING, ("not full",), (HOLD,), why="§7: order"),
    Row((AHEAD,), (HOLDING,), STAYS, ("not full",), (HOLD,), why="§7: order"),
    Row(
        (AHEAD,),
        (IN_ORDER, HOLDING),
        IN_ORDER,
        ("full",),
        (HOLD, ALL_IN_ORDER),
        why="§7: never silent loss, and never without a bound",
    ),
    Row((AHEAD,), (ENDED,), effects=(HAND_ON,), why="§3 step 6: the reducer says so"),
    Row((EOF,), (IN_ORDER, HOLDING), ENDED, effects=(ALL_IN_ORDER,), why="§7: never silent loss"),
    Row((EOF,), (ENDED,), STAYS, why="§3: it may be said again"),
)

RESEQUENCER = Declaration(
    name="resequencer",
    title="Envelopes put back in order",
    states=STATES,
    initial=IN_ORDER,
    triggers=TRIGGERS,
    rows=ROWS,
    facts=FACTS,
    effects=EFFECTS,
    main_line=(IN_ORDER, HOLDING, ENDED),
)
