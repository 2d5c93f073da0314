"""How a stream of server-sent events is framed (contract §5, WHATWG §9.2.6), as two machines.

The first reads characters: where lines end, and where the name of a field ends and its value
begins. The second reads the lines that the first has ended: what they say about the event that is
being collected. Neither knows of chunks: bytes become characters before, one after the other, and
an incomplete character at the end counts as an invalid one.
"""

from __future__ import annotations

from doneness.spec.table import STAYS, Declaration, Row, State

# Characters to lines.

START = "start"
LINE_START = "line_start"
AFTER_CR = "after_cr"
NAME = "name"
VALUE_START = "value_start"
VALUE = "value"
COMMENT = "comment"
ENDED = "ended"
FAILED = "failed"

LINE_STATES = (
    State(START, "live", "nothing has come yet: a byte order mark would be dropped"),
    State(LINE_START, "live", "a line begins"),
    State(AFTER_CR, "live", "a line begins, unless an LF still belongs to the last line's end"),
    State(NAME, "live", "inside the name of a field"),
    State(VALUE_START, "live", "after the first colon: one space would be dropped"),
    State(VALUE, "live", "inside the value of a field"),
    State(COMMENT, "live", "inside a comment"),
    State(ENDED, "ended", "the stream has ended", final=True),
    State(FAILED, "unknown", "the stream went wrong, for good", final=True),
)

AT_LINE_START = (START, LINE_START, AFTER_CR)
IN_FIELD = (NAME, VALUE_START, VALUE)
IN_LINE = (*IN_FIELD, COMMENT)

BOM = "U+FEFF"
LF = "LF"
CR = "CR"
COLON = "colon"
SPACE = "space"
CHARACTER = "any other character"
INVALID = "bytes that are no character"
EXCESS = "a byte more than a line may have"
EOF = "eof"

LINE_TRIGGERS = (BOM, LF, CR, COLON, SPACE, CHARACTER, INVALID, EXCESS, EOF)
LINE_ENDS = ((LF, LINE_START), (CR, AFTER_CR))
CONTENT = (BOM, COLON, SPACE, CHARACTER, INVALID)

LINE_FACTS = {
    "not_utf8": "the policy is `strict`, and there were bytes in the line that are no character",
}

LINE_EFFECTS = {
    "blank": "an empty line: to the second machine",
    "comment": "a comment has ended: to the second machine",
    "drop": "the character counts for nothing",
    "field": "a field has ended: to the second machine",
    "grow_comment": "the comment grows by the character",
    "grow_name": "the name grows by the character",
    "grow_value": "the value grows by the character",
    "refuse": "the call is an error; nothing else changes",
    "unfinished": "what no blank line has completed is dropped",
}

LINE_ROWS = (
    # Where a line begins.
    Row((BOM,), (START,), LINE_START, effects=("drop",), why="§5: a single one at the very start"),
    Row((LF,), (AFTER_CR,), LINE_START, effects=("drop",), why="§5: CRLF ends one line"),
    Row((LF,), (START, LINE_START), LINE_START, effects=("blank",), why="§5: LF ends a line"),
    Row((CR,), AT_LINE_START, AFTER_CR, effects=("blank",), why="§5: CR ends a line"),
    Row((COLON,), AT_LINE_START, COMMENT, why="§5: a line that starts with a colon"),
    Row((BOM,), (LINE_START, AFTER_CR), NAME, effects=("grow_name",), why="§5: later ones stay"),
    Row(
        (SPACE, CHARACTER, INVALID),
        AT_LINE_START,
        NAME,
        effects=("grow_name",),
        why="§5: only the space after the first colon is dropped",
    ),
    # Inside a line.
    Row((COLON,), (NAME,), VALUE_START, why="§5: the first colon"),
    Row((SPACE,), (VALUE_START,), VALUE, effects=("drop",), why="§5: one leading space, no more"),
    Row(
        (BOM, SPACE, CHARACTER, INVALID), (NAME,), STAYS, effects=("grow_name",), why="WHATWG 9.2.6"
    ),
    Row(
        (BOM, COLON, CHARACTER, INVALID),
        (VALUE_START,),
        VALUE,
        effects=("grow_value",),
        why="§5: the text after the first colon",
    ),
    Row(CONTENT, (VALUE,), STAYS, effects=("grow_value",), why="§5: likewise"),
    Row(CONTENT, (COMMENT,), STAYS, effects=("grow_comment",), why="WHATWG 9.2.6"),
    # Where a line ends.
    *(
        Row((end,), IN_FIELD, after, ("not not_utf8",), ("field",), why=f"§5: {end} ends it")
        for end, after in LINE_ENDS
    ),
    *(
        Row((end,), (COMMENT,), after, ("not not_utf8",), ("comment",), why=f"§5: {end} too")
        for end, after in LINE_ENDS
    ),
    Row((LF, CR), IN_LINE, FAILED, ("not_utf8",), ("refuse",), why="§5: an error by default"),
    # Where the stream ends.
    Row((EOF,), AT_LINE_START, ENDED, effects=("unfinished",), why="§5: EOF dispatches nothing"),
    Row(
        (EOF,),
        IN_LINE,
        ENDED,
        ("not not_utf8",),
        ("unfinished",),
        why="§5: even when its JSON is complete",
    ),
    Row((EOF,), IN_LINE, FAILED, ("not_utf8",), ("refuse",), why="§5: truncated UTF-8"),
    Row((EOF,), (ENDED,), STAYS, why="the end may be told again, as in §3"),
    Row(
        (EXCESS,),
        (*AT_LINE_START, *IN_LINE),
        FAILED,
        effects=("refuse",),
        why="a limit ends in a clear error",
    ),
    Row(
        (*CONTENT, EXCESS, LF, CR),
        (ENDED,),
        STAYS,
        effects=("refuse",),
        why="§5: feeding after the end",
    ),
    Row(LINE_TRIGGERS, (FAILED,), STAYS, effects=("refuse",), why="no guesswork after an error"),
)

FRAMING_LINES = Declaration(
    name="framing_lines",
    title="From characters to the lines of an event stream",
    states=LINE_STATES,
    initial=START,
    triggers=LINE_TRIGGERS,
    rows=LINE_ROWS,
    facts=LINE_FACTS,
    effects=LINE_EFFECTS,
    main_line=(START, NAME, VALUE_START, VALUE, LINE_START),
)

# Lines to events.

NOTHING = "nothing"
DATA_SEEN = "data_seen"
TOO_LONG = "too_long"

FIELD_STATES = (
    State(NOTHING, "live", "no data since the last blank line", final=True),
    State(DATA_SEEN, "live", "there was data: a blank line makes an event of it", final=True),
    State(TOO_LONG, "unknown", "a limit was passed, for good", final=True),
)

BLANK = "blank line"
A_COMMENT = "comment"
DATA = "data"
EVENT = "event"
ID = "id"
RETRY = "retry"
OTHER = "any other field"

FIELD_TRIGGERS = (BLANK, A_COMMENT, DATA, EVENT, ID, RETRY, OTHER)
OPEN = (NOTHING, DATA_SEEN)

FIELD_FACTS = {
    "digits": "the value is ASCII digits and nothing else, not too many of them",
    "fits": "the limit for what grows is kept",
    "nul": "the value holds a NUL",
}

FIELD_EFFECTS = {
    "add_data": "the value becomes one more line of the data",
    "dispatch": "an event is handed out: its type or `message`, the lines joined by LF, the id",
    "hand_out_comment": "the comment is handed out to those who asked for comments",
    "id_in_force": "the last event id becomes what the fields said",
    "refuse": "the call is an error; nothing else changes",
    "reset": "data and type are empty again",
    "set_id": "the id becomes the value, from the next blank line on",
    "set_retry": "the reconnection time becomes the value",
    "set_type": "the event type becomes the value",
}

FIELD_ROWS = (
    Row(
        (BLANK,),
        (DATA_SEEN,),
        NOTHING,
        effects=("id_in_force", "dispatch", "reset"),
        why="§5: an event if at least one data field was seen",
    ),
    Row(
        (BLANK,),
        (NOTHING,),
        STAYS,
        effects=("id_in_force", "reset"),
        why="§5: the type is reset after every blank line",
    ),
    Row((A_COMMENT,), OPEN, STAYS, effects=("hand_out_comment",), why="§5"),
    Row((DATA,), OPEN, DATA_SEEN, ("fits",), ("add_data",), why="§5: `data:` alone counts"),
    Row((DATA,), OPEN, TOO_LONG, ("not fits",), ("refuse",), why="a limit ends in a clear error"),
    Row((EVENT,), OPEN, STAYS, effects=("set_type",), why="§5: the last one counts"),
    Row((ID,), OPEN, STAYS, ("nul",), why="§5: one holding NUL is ignored"),
    Row((ID,), OPEN, STAYS, ("not nul", "fits"), ("set_id",), why="§5: an empty one resets it"),
    Row((ID,), OPEN, TOO_LONG, ("not nul", "not fits"), ("refuse",), why="likewise"),
    Row((RETRY,), OPEN, STAYS, ("digits",), ("set_retry",), why="§5: only ASCII digits count"),
    Row((RETRY,), OPEN, STAYS, ("not digits",), why="§5: anything else is ignored"),
    Row((OTHER,), OPEN, STAYS, why="§5: other fields are ignored, `Data` too"),
    Row(FIELD_TRIGGERS, (TOO_LONG,), STAYS, effects=("refuse",), why="no guesswork after an error"),
)

FRAMING_FIELDS = Declaration(
    name="framing_fields",
    title="From the lines of an event stream to events",
    states=FIELD_STATES,
    initial=NOTHING,
    triggers=FIELD_TRIGGERS,
    rows=FIELD_ROWS,
    facts=FIELD_FACTS,
    effects=FIELD_EFFECTS,
    main_line=(NOTHING, DATA_SEEN),
)
