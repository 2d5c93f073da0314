"""The named properties P1 to P9 (contract §8), each checked on what a subject shows.

A property looks at the events (their makers say what they are) and at the snapshots, never at
the oracle: it would hold the declaration to account as well. P10, on bytes, is a framing check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, Final

from doneness.generators.divergence import was_not_run
from doneness.generators.haste import PATIENT, Haste
from doneness.generators.moves import BY_NAME, Template, digest_of
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Snapshot, Subject
from doneness.spec import lifecycle
from doneness.spec.vocabulary import CallState, Kind, Outcome, Status

SUCCESSES: Final = frozenset({Status.CHECKING, Status.DONE, Status.REJECTED})
SETTLED: Final = frozenset({CallState.RETURNED, CallState.FAILED})

_CONTRADICTS: Final = frozenset(
    {lifecycle.BAD_PAYLOAD, lifecycle.UNKNOWN_KIND, lifecycle.CHECKED_BADLY}
)
_REFUSING_STEPS: Final = frozenset({"not_an_envelope", "not_strict_json", "same_id_other_content"})

_BATCH: Final = 10_000
_HASTY_BATCH: Final = 25

_FACTS: Final = (
    "issues",
    "terminal",
    "verdict",
    "waiting",
    "cancel_requested",
    "closed",
    "unresolved",
)


@dataclass(frozen=True, slots=True)
class Story:
    """A trace and what a subject showed after each of its events."""

    run: str
    templates: tuple[Template, ...]
    moves: tuple[Move, ...]
    shown: tuple[Snapshot, ...]

    def upto(self, index: int) -> str:
        """The events up to an index as numbered lines, for people."""
        return "\n".join(
            f"  {number}  {move.name:40}  {snapshot.get('status', snapshot.get('failure'))}"
            for number, (move, snapshot) in enumerate(
                zip(self.moves[: index + 1], self.shown, strict=False), 1
            )
        )


@dataclass(frozen=True, slots=True)
class Breach:
    """A story that breaks a property, and where."""

    story: Story
    index: int
    reason: str

    @property
    def was_not_run(self) -> bool:
        """Whether the subject was not even asked, so that the story says nothing."""
        return was_not_run(self.story.shown[self.index].get("failure"))


def stories(
    subject: Subject, run: str, walks: Iterable[Sequence[Template]], haste: Haste = PATIENT
) -> list[Story]:
    """Run walks through a subject, as many as there is time for."""
    told: list[Story] = []
    todo = iter(walks)
    while some := list(islice(todo, haste.batches(_BATCH, _HASTY_BATCH))):
        told += _told(subject, run, some)
        if haste.is_over():
            break
    return told


def _told(subject: Subject, run: str, walks: Iterable[Sequence[Template]]) -> list[Story]:
    played = []
    for walk in walks:
        templates, moves = made(run, walk, subject.takes)
        played.append((templates, moves))
    shown = subject.every(run, [[move.event for move in moves] for _, moves in played])
    return [
        Story(run, tuple(templates), tuple(moves), tuple(snapshots))
        for (templates, moves), snapshots in zip(played, shown, strict=True)
    ]


def made(
    run: str, walk: Iterable[Template], takes: Callable[[Move], bool]
) -> tuple[list[Template], list[Move]]:
    """The templates of a walk that can be played, and their moves."""
    oracle = Oracle(run)
    templates, moves = [], []
    for template in walk:
        move = template.make(oracle)
        if move is None or not takes(move):
            continue
        oracle.take(move)
        templates.append(template)
        moves.append(move)
    return templates, moves


def p1_done_is_earned(story: Story) -> Breach | None:
    """P1: `done` only with an uncontradicted success followed by an ok check bound to it."""
    digest = None
    accepted = contradicted = closed = False
    for index, (move, snapshot) in enumerate(zip(story.moves, story.shown, strict=True)):
        contradicted |= (
            move.caught in _REFUSING_STEPS or not move.in_order or move.trigger in _CONTRADICTS
        )
        closed |= move.trigger == lifecycle.EOF
        if move.trigger == lifecycle.SUCCEEDED and digest is None and not closed:
            digest = digest_of(str(move.args["final_text"]))
        if move.trigger == lifecycle.CHECKED_OK and not closed:
            accepted |= digest is not None and move.args["digest"] == digest
        if snapshot.get("status") == Status.DONE and (contradicted or not accepted):
            why = "a contradiction" if contradicted else "no accepted result"
            return Breach(story, index, f"done is shown, but there is {why}")
    return None


def p2_issues_stay(story: Story) -> Breach | None:
    """P2: an issue is for good, and while there is one the status is unknown."""
    before: list[object] = []
    for index, snapshot in enumerate(story.shown):
        issues = _list(snapshot["issues"])
        if issues[: len(before)] != before:
            return Breach(story, index, f"issues {before} became {issues}")
        if issues and snapshot["status"] != Status.UNKNOWN:
            return Breach(story, index, f"{snapshot['status']} is shown in spite of {issues}")
        before = issues
    return None


def p5_eof_makes_no_success(story: Story) -> Breach | None:
    """P5: the end of the connection never makes a success."""
    before: object = Status.RUNNING
    for index, (move, snapshot) in enumerate(zip(story.moves, story.shown, strict=True)):
        status = snapshot.get("status")
        if move.trigger == lifecycle.EOF and status in SUCCESSES and status != before:
            return Breach(story, index, f"EOF turned {before} into {status}")
        before = status
    return None


def p6_terminal_stays(story: Story) -> Breach | None:
    """P6: a terminal is never replaced."""
    before: object = None
    for index, snapshot in enumerate(story.shown):
        terminal = snapshot["terminal"]
        if before is not None and terminal != before:
            return Breach(story, index, f"terminal {before} became {terminal}")
        before = terminal
    return None


def p7_no_success_with_an_open_call(story: Story) -> Breach | None:
    """P7: no success with an open call."""
    for index, snapshot in enumerate(story.shown):
        tools: Any = snapshot["tools"]
        open_calls = [call for call, state in tools.items() if state not in SETTLED]
        succeeded = snapshot.get("terminal") == Outcome.SUCCEEDED or snapshot["status"] in SUCCESSES
        if succeeded and open_calls:
            return Breach(story, index, f"a success with open calls {open_calls}")
    return None


def p8_nothing_raises(story: Story) -> Breach | None:
    """P8: nothing raises, and every answer has a status."""
    for index, snapshot in enumerate(story.shown):
        if "failure" in snapshot or "status" not in snapshot:
            return Breach(story, index, str(snapshot.get("failure", "no status")))
    return None


def p9_status_follows_from_the_facts(all_stories: Iterable[Story]) -> Breach | None:
    """P9: the status is a function of the facts: equal facts never show two statuses.

    Where a response ended badly and the subject does not show that, a fact is not to be seen, so
    such a story says nothing.
    """
    known: dict[str, object] = {}
    for story in all_stories:
        if "unresolved" not in story.shown[0] and any(
            move.trigger == Kind.MODEL_UNRESOLVED for move in story.moves
        ):
            continue
        for index in range(len(story.shown)):
            facts, status = _facts(story, index)
            other = known.setdefault(facts, status)
            if status != other:
                return Breach(story, index, f"{facts} shows {other} and {status}")
    return None


PER_STORY: Final[tuple[tuple[Callable[[Story], Breach | None], tuple[str, ...]], ...]] = (
    (p1_done_is_earned, ("status",)),
    (p2_issues_stay, ("status", "issues")),
    (p5_eof_makes_no_success, ("status",)),
    (p6_terminal_stays, ("terminal",)),
    (p7_no_success_with_an_open_call, ("status", "tools")),
    (p8_nothing_raises, ()),
)
"""Properties of one story, each with the observables that it needs."""


def shortened(subject: Subject, breach: Breach, holds: Callable[[Story], Breach | None]) -> Breach:
    """A breach of the same property by a story from which nothing can be left out."""
    best = breach
    templates = list(breach.story.templates[: breach.index + 1])
    place = 0
    while place < len(templates):
        fewer = templates[:place] + templates[place + 1 :]
        [story] = stories(subject, breach.story.run, [fewer])
        answered = holds is p8_nothing_raises or all("failure" not in one for one in story.shown)
        found = holds(story) if answered else None
        if found is None:
            place += 1
        else:
            best, templates = found, list(story.templates[: found.index + 1])
            place = min(place, len(templates))
    return best


def as_short(subject: Subject, breach: Breach) -> Breach:
    """A shorter story that breaks P9 in the same way: to the same facts with the same status."""
    facts, status = _facts(breach.story, breach.index)
    best, templates, place = breach, list(breach.story.templates[: breach.index + 1]), 0
    while place < len(templates):
        fewer = templates[:place] + templates[place + 1 :]
        [story] = stories(subject, breach.story.run, [fewer])
        last = len(story.shown) - 1
        answered = last >= 0 and "failure" not in story.shown[last]
        if answered and _facts(story, last) == (facts, status):
            best, templates = Breach(story, last, breach.reason), list(story.templates)
        else:
            place += 1
    return best


def _facts(story: Story, index: int) -> tuple[str, object]:
    snapshot = story.shown[index]
    return repr([(name, snapshot.get(name)) for name in _FACTS]), snapshot.get("status")


def inserted(
    subject: Subject, story: Story, names: Sequence[str], counter: str, random: Random
) -> Breach | None:
    """P3, P4: inserting such events changes one counter alone.

    The events are inserted at up to three random places; what the story showed at its end must be
    shown again, but for the counter, which has grown by as many. A breach is shortened.
    """
    walk = [(template, False) for template in story.templates]
    for _ in range(3):
        walk.insert(random.randint(0, len(walk)), (BY_NAME[random.choice(names)], True))
    best = _changes_more(subject, story.run, walk, counter)
    place = 0
    while best is not None and place < len(walk):
        fewer = walk[:place] + walk[place + 1 :]
        found = _changes_more(subject, story.run, fewer, counter)
        if found is None:
            place += 1
        else:
            best, walk = found, fewer
    return best


def _changes_more(
    subject: Subject, run: str, walk: Sequence[tuple[Template, bool]], counter: str
) -> Breach | None:
    """A breach if a walk without the inserted letters shows something else but for the counter."""
    templates, moves = made(run, [template for template, _ in walk], subject.takes)
    rest, fewer = made(run, [one for one, is_inserted in walk if not is_inserted], subject.takes)
    more = len(moves) - len(fewer)
    if more <= 0 or not fewer:
        return None
    traces = [[move.event for move in some] for some in (fewer, moves)]
    before, shown = subject.every(run, traces)
    if "failure" in shown[-1] or "failure" in before[-1] or len(rest) == len(templates):
        return None  # P8 judges that
    longer = Story(run, tuple(templates), tuple(moves), tuple(shown))
    for name, value in before[-1].items():
        expected = value + more if name == counter and isinstance(value, int) else value
        if shown[-1].get(name) != expected:
            reason = f"{name} is {shown[-1].get(name)!r} instead of {expected!r}"
            return Breach(longer, len(moves) - 1, f"{more} inserted: {reason}")
    return None


DUPLICATES: Final = ("the last again", "the first again", "the last again, keys in another order")
FOREIGN: Final = ("another run", "another run, its name a prefix")


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


__all__ = [
    "DUPLICATES",
    "FOREIGN",
    "PER_STORY",
    "Breach",
    "Story",
    "as_short",
    "inserted",
    "p9_status_follows_from_the_facts",
    "shortened",
    "stories",
]
