"""The reducer: one run's envelopes in, the facts of that run out (contract §3).

Three layers of fact are kept apart: activity, terminal, verdict. The status is a function of
the facts and nothing else; no event assigns it. Evidence of a contradiction is recorded as an
issue and never erased.

An event passes eight steps, in the contract's order; the first that refuses it ends its way,
and a refused event leaves no half effect. The text fragment that simply continues a healthy run
is nearly all there is in practice, so `feed` and `feed_json` open with a short way through the
same steps for it: if any step might say no, nothing has happened yet and the long way decides.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from doneness.machine.content import (
    fingerprint,
    own_integer,
    own_object,
    own_text,
)
from doneness.machine.json_text import parse
from doneness.machine.memory import Memory
from doneness.machine.payloads import (
    PAYLOADS,
    Call,
    Check,
    End,
    Response,
    Text,
    UnresolvedResponse,
)
from doneness.spec.vocabulary import LABELS, CallState, Issue, Kind, Language, Outcome, Status

_RUN, _ID, _SEQ, _KIND, _DATA = _KEYS = ("run", "id", "seq", "kind", "data")
_KEY_SET: Final = frozenset(_KEYS)
_KEY_COUNT: Final = len(_KEYS)
_TEXT_DELTA: Final = str(Kind.TEXT_DELTA)

_SETTLED: Final = frozenset({CallState.RETURNED, CallState.FAILED})

_ENDED_BADLY: Final = {
    Outcome.CANCELLED: Status.CANCELLED,
    Outcome.FAILED: Status.FAILED,
    Outcome.INCOMPLETE: Status.INCOMPLETE,
}

_VERDICTS: Final = {None: Status.CHECKING, True: Status.DONE, False: Status.REJECTED}


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """An envelope as bytes; what its data is depends on the kind."""

    run: str
    id: str
    seq: int
    kind: str
    data: msgspec.Raw


_READ_LINE: Final = msgspec.json.Decoder(_Line).decode
_READ_TEXT: Final = msgspec.json.Decoder(Text).decode


class _Envelope(NamedTuple):
    run: str
    id: str
    seq: int
    kind: str
    data: dict[str, object]


class Progress:
    """What is known about one run (contract §3).

    `feed`, `feed_json` and `close_transport` never raise, whatever they are given; everything
    else is read-only.

    Args:
        run: The id of the run, bound by the trusted host.
        language: The language of `message`: `zh` or `en`.

    Raises:
        TypeError: `run` is not a `str`.
        ValueError: `run` is empty or cannot be written as UTF-8, or the language is not known.
    """

    __slots__ = (
        "_calls",
        "_cancel_requested",
        "_closed",
        "_duplicates",
        "_final_text",
        "_foreign",
        "_issues",
        "_joined",
        "_joined_pieces",
        "_labels",
        "_last_seq",
        "_memory",
        "_next_seq",
        "_pieces",
        "_recovered",
        "_responses",
        "_run",
        "_terminal",
        "_unresolved",
        "_verdict",
        "_waiting",
    )

    def __init__(self, run: str, *, language: Language = "zh") -> None:
        own_run = own_text(run)
        if own_run is None:
            raise TypeError(f"run: expected a str, got {type(run).__name__}")
        if not own_run:
            raise ValueError("run: expected the id of a run, got an empty string")
        try:
            own_run.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"run: cannot be written as UTF-8: {error.reason}") from None
        if language not in LABELS:
            raise ValueError(f"language: expected one of {', '.join(LABELS)}, got {language!r}")
        self._run = own_run
        self._labels = LABELS[language]
        # Evidence.
        self._issues: list[Issue] = []
        self._memory = Memory()
        self._last_seq: int  # only once `_next_seq` no longer tells it
        self._foreign = 0
        self._duplicates = 0
        self._closed = False
        # Activity. As long as the run is healthy there is one piece of text per seq, maybe empty.
        self._pieces: list[str] = []
        self._joined = ""
        self._joined_pieces = 0
        self._calls: dict[str, CallState] = {}
        self._responses: list[str] = []
        self._unresolved = False
        self._recovered = False
        self._waiting = False
        self._cancel_requested = False
        # Terminal and verdict.
        self._terminal: Outcome | None = None
        self._final_text: str | None = None
        self._verdict: bool | None = None
        # The seq that a fragment must have to take the short way; None once none may, and then
        # the last seq is no longer the one before.
        self._next_seq: int | None = 1

    # What goes in.

    def feed(self, event: object) -> None:
        """Take one envelope, as a `dict` (contract §3, steps 1 to 8)."""
        try:
            if type(event) is dict and len(event) == _KEY_COUNT:
                seq, kind, run, id_, data = (
                    event["seq"],
                    event["kind"],
                    event["run"],
                    event["id"],
                    event["data"],
                )
                if (
                    type(seq) is int
                    and seq == self._next_seq
                    and type(kind) is str
                    and kind == _TEXT_DELTA
                    and (run is self._run or (type(run) is str and run == self._run))
                    and type(id_) is str
                    and id_
                    and type(data) is dict
                    and len(data) == 1
                ):
                    text = data["text"]
                    if type(text) is str and (text.isascii() or text.encode()):
                        memory = self._memory
                        if (
                            memory.counted_to is None
                            and id_ == f"{memory.prefix}{seq + memory.offset}"
                        ) or ((id_.isascii() or id_.encode()) and memory.is_new(id_, seq)):
                            self._pieces.append(text)
                            self._next_seq = seq + 1
                            return
        except Exception:  # noqa: BLE001, S110 # a key is missing, text is no UTF-8: see below
            pass
        except BaseException:  # Ctrl-C passes, but a key's own comparison may raise it as well
            if _has_plain_keys(event):
                raise
        self._take(event)

    def feed_json(self, line: bytes) -> None:
        """Take one envelope, as JSON in UTF-8; what is not one JSON value is `bad_envelope`."""
        try:
            envelope = _READ_LINE(line)
            seq, id_ = envelope.seq, envelope.id
            if (
                seq == self._next_seq
                and envelope.kind == _TEXT_DELTA
                and envelope.run == self._run
                and id_
            ):
                text = _READ_TEXT(envelope.data).text
                if self._memory.is_new(id_, seq):
                    self._pieces.append(text)
                    self._next_seq = seq + 1
                    return
        except Exception:  # noqa: BLE001, S110 # msgspec declined; the long way says why
            pass
        try:
            value = parse(line)
        except Exception:  # noqa: BLE001 # not bytes, not UTF-8, not JSON: all the same here
            self._refuse(Issue.BAD_ENVELOPE)
        else:
            self._take(value)

    def close_transport(self) -> None:
        """Record EOF, and nothing else; again has no effect."""
        self._closed = True
        self._leave_short_way()

    # What can be read.

    @property
    def run(self) -> str:
        """The run that this reducer is bound to."""
        return self._run

    @property
    def status(self) -> Status:
        """What to show: the first line of the contract's table that holds."""
        terminal = self._terminal
        if self._issues:
            return Status.UNKNOWN
        if terminal in _ENDED_BADLY:
            return _ENDED_BADLY[terminal]
        if terminal is None and self._unresolved:
            return Status.UNKNOWN
        if self._waiting:
            return Status.WAITING
        if terminal is not None:
            return _VERDICTS[self._verdict]
        if self._closed:
            return Status.UNKNOWN
        return Status.CANCELLING if self._cancel_requested else Status.RUNNING

    @property
    def message(self) -> str:
        """The label of the status, for people, in the language chosen."""
        return self._labels[self.status]

    @property
    def issues(self) -> list[Issue]:
        """Each reason for distrust once, in order of first appearance."""
        return list(self._issues)

    @property
    def text(self) -> str:
        """All accepted text, in order."""
        fresh = self._pieces[self._joined_pieces :]
        self._joined += "".join(fresh)
        self._joined_pieces += len(fresh)
        return self._joined

    @property
    def tools(self) -> dict[str, CallState]:
        """The state of each tool call, by call id, in order of request."""
        return dict(self._calls)

    @property
    def model_responses(self) -> list[str]:
        """The ids of the completed model responses, in order, repetitions included."""
        return list(self._responses)

    @property
    def unresolved(self) -> bool:
        """Whether some model response ended badly (`model.unresolved`)."""
        return self._unresolved

    @property
    def recovered(self) -> bool:
        """Whether a response completed after the last one that ended badly."""
        return self._recovered

    @property
    def foreign(self) -> int:
        """How many envelopes named another run."""
        return self._foreign

    @property
    def duplicates(self) -> int:
        """How many envelopes were the very same as one before."""
        return self._duplicates

    @property
    def waiting(self) -> bool:
        """Whether the run waits for an approval, or ended paused."""
        return self._waiting

    @property
    def cancel_requested(self) -> bool:
        """Whether a cancel was requested; stays so."""
        return self._cancel_requested

    @property
    def terminal(self) -> Outcome | None:
        """The host's conclusion, if there is one; never replaced."""
        return self._terminal

    @property
    def final_text(self) -> str | None:
        """What the accepted `run.ended` carried."""
        return self._final_text

    @property
    def verdict(self) -> bool | None:
        """The application's acceptance of `final_text`, if it was given."""
        return self._verdict

    @property
    def closed(self) -> bool:
        """Whether the transport ended."""
        return self._closed

    @property
    def last_seq(self) -> int:
        """The highest seq seen; 0 before the first."""
        return self._last_seq if self._next_seq is None else self._next_seq - 1

    # How it works.

    def _take(self, event: object) -> None:
        try:
            envelope = _read(event)
        except Exception:  # noqa: BLE001 # e.g. another thread changed the object meanwhile
            envelope = None
        if envelope is None:
            self._refuse(Issue.BAD_ENVELOPE)
            return
        if envelope.run != self._run:
            self._foreign += 1
            return
        try:
            envelope.id.encode()  # an id, too, must be text that can be written
            content = fingerprint([envelope.seq, envelope.kind, envelope.data])
        except Exception:  # noqa: BLE001 # NotJSONError, or as above
            self._refuse(Issue.NOT_JSON)
            return
        repeats = self._memory.repeats(envelope.id, envelope.seq, content, self._pieces)
        if repeats:
            self._duplicates += 1
            return
        if repeats is not None:
            self._refuse(Issue.ID_CONFLICT)
            return
        self._memory.keep(envelope.id, content)
        if envelope.seq != self.last_seq + 1:
            self._refuse(Issue.SEQUENCE_GAP_OR_REORDER)
        if self._next_seq is None:
            self._last_seq = max(self._last_seq, envelope.seq)
        else:
            self._memory.pass_by(envelope.id, envelope.seq)
            self._next_seq += 1
        if self._closed:
            self._refuse(Issue.EVENT_AFTER_TRANSPORT_CLOSE)
        elif self._terminal is not None and envelope.kind != Kind.APP_CHECKED:
            self._refuse(Issue.EVENT_AFTER_TERMINAL)
        elif envelope.kind not in PAYLOADS:
            self._refuse(Issue.UNKNOWN_EVENT)
        elif not self._apply(envelope.kind, envelope.data):
            self._refuse(Issue.BAD_PAYLOAD_OR_TRANSITION)
        if self._next_seq is not None and envelope.kind != Kind.TEXT_DELTA:
            self._pieces.append("")

    def _refuse(self, issue: Issue) -> None:
        if issue not in self._issues:
            self._issues.append(issue)
        self._leave_short_way()

    def _leave_short_way(self) -> None:
        if self._next_seq is not None:
            self._last_seq = self._next_seq - 1
            self._next_seq = None
            self._memory.stop(self._last_seq)

    def _apply(self, kind: str, data: dict[str, object]) -> bool:
        """Apply a payload; False, and no effect, if it is bad or its transition refused."""
        try:
            payload = msgspec.convert(_own(data), PAYLOADS[kind])
        except msgspec.ValidationError:
            return False
        match payload:
            case Text(text):
                self._pieces.append(text)
            case Response(response_id):
                self._responses.append(response_id)
                self._recovered = self._unresolved
            case UnresolvedResponse():
                self._unresolved = True
                self._recovered = False
            case Call(call_id):
                return self._move_call(kind, call_id)
            case End():
                return self._end(payload)
            case Check():
                return self._check(payload)
            case _ if kind == Kind.APPROVAL_WAIT:
                self._waiting = True
            case _:
                self._cancel_requested = True
        return True

    def _move_call(self, kind: str, call_id: str) -> bool:
        state = self._calls.get(call_id)
        match kind, state:
            case Kind.TOOL_REQUESTED, None:
                self._calls[call_id] = CallState.REQUESTED
            case Kind.TOOL_STARTED, CallState.REQUESTED:
                self._calls[call_id] = CallState.RUNNING
            case Kind.TOOL_FINISHED, CallState.REQUESTED | CallState.RUNNING:
                self._calls[call_id] = CallState.RETURNED
            case Kind.TOOL_FAILED, CallState.REQUESTED | CallState.RUNNING:
                self._calls[call_id] = CallState.FAILED
            case _:
                return False
        return True

    def _end(self, end: End) -> bool:
        if end.outcome is Outcome.SUCCEEDED and (
            self._waiting
            or self._cancel_requested
            or end.final_text is None
            or (self._unresolved and not self._recovered)
            or not _SETTLED.issuperset(self._calls.values())
        ):
            return False
        self._terminal = end.outcome
        self._final_text = end.final_text
        self._waiting = end.outcome is Outcome.PAUSED
        self._leave_short_way()
        return True

    def _check(self, check: Check) -> bool:
        if (
            self._terminal is not Outcome.SUCCEEDED
            or self._final_text is None
            or self._verdict is not None
            or check.digest != sha256(self._final_text.encode()).hexdigest()
        ):
            return False
        self._verdict = check.ok
        return True


def _read(event: object) -> _Envelope | None:
    """The envelope that an object holds; None if it is not one (contract §2)."""
    members = own_object(event)
    if members is None or members.keys() != _KEY_SET:
        return None
    run, id_, kind = (own_text(members[key]) for key in (_RUN, _ID, _KIND))
    seq = own_integer(members[_SEQ])
    data = members[_DATA]
    if not (run and id_ and kind) or seq is None or seq < 1 or not issubclass(type(data), dict):
        return None
    return _Envelope(run, id_, seq, kind, data)  # type: ignore[arg-type] # an instance of dict


def _has_plain_keys(event: object) -> bool:
    """Whether looking up a key in the event or its members runs no code of theirs."""
    if type(event) is not dict:
        return True
    containers = [event, *(value for value in event.values() if type(value) is dict)]
    return all(type(key) is str for container in containers for key in container)


def _own(data: dict[str, object]) -> dict[str, object]:
    """The members of a payload, any text among them as what it really holds."""
    members = own_object(data) or {}
    return {
        name: value if (text := own_text(value)) is None else text
        for name, value in members.items()
    }
