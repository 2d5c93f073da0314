"""Recorded streams shrink to a few legal events, and nothing private stays."""

from __future__ import annotations

import json
import random
from hashlib import sha256

from doneness.generators.classify import declared, moves
from doneness.generators.log_shrink import Shrinking, links, neutral, rewritten
from doneness.generators.moves import TEMPLATES, play
from doneness.generators.oracle import Oracle
from doneness.machine import Producer, Progress

RUN = "session-7f"


def recorded(fragments: int) -> list[object]:
    """A long run with a repeat, a foreign event, and a cancel in its middle."""
    host, other = Producer(RUN), Producer("somebody-else")
    log: list[object] = [host.emit("text.delta", text=f"secret {n}") for n in range(fragments)]
    log.append(other.emit("text.delta", text="theirs"))
    log.append(log[fragments // 2])
    log.append(host.emit("tool.requested", call_id="transfer-money"))
    log.append(host.emit("cancel.requested"))
    log += [host.emit("text.delta", text=f"more {n}") for n in range(fragments)]
    log.append(host.emit("run.ended", outcome="cancelled", final_text="secret result"))
    log.append(None)
    return log


class SaysDone(Progress):
    """Shows a cancelled run as done."""

    @property
    def status(self):  # type: ignore[no-untyped-def, override]
        """As it should be, but for one thing."""
        return "done" if super().status == "cancelled" else super().status


def shows_done(events: list[object]) -> bool:
    """Whether the wrong reducer leaves the declaration on a stream."""
    reducer = SaysDone(RUN)
    for event, said in zip(events, declared(RUN, events), strict=True):
        if event is None:
            reducer.close_transport()
        else:
            reducer.feed(event)
        if reducer.status != said.status:
            return True
    return False


def test_a_long_log_shrinks_to_what_matters() -> None:
    """Everything that is left is needed, numbered from 1, and legal as it was."""
    log = links(RUN, recorded(200))
    search = Shrinking(RUN, log, shows_done)
    sizes = list(search.steps())
    assert sizes[-1] == len(search.best) == 1
    assert search.best == [
        {
            "run": RUN,
            "id": f"{RUN}:1",
            "seq": 1,
            "kind": "run.ended",
            "data": {"outcome": "cancelled", "final_text": "secret result"},
        }
    ]


def test_it_can_be_interrupted_without_losing_what_it_has() -> None:
    """After any step the best so far still shows it."""
    search = Shrinking(RUN, links(RUN, recorded(50)), shows_done)
    for _, size in zip(range(3), search.steps(), strict=False):
        assert len(search.best) == size
        assert shows_done(search.best)


def test_rewriting_all_of_a_log_changes_nothing_of_what_its_events_are() -> None:
    """Numbers, repeats, conflicts and gaps stay what they were."""
    for seed in range(60):
        rng = random.Random(seed)
        played = play(Oracle(RUN), [rng.choice(TEMPLATES) for _ in range(12)])
        events = [move.event for move in played if move.json]
        before = moves(RUN, events)
        log = links(RUN, events)
        after = moves(RUN, rewritten(RUN, log, range(len(log))))
        sorts = [(move.caught, move.trigger, move.in_order) for move in before]
        assert [(move.caught, move.trigger, move.in_order) for move in after] == sorts


def test_a_deleted_event_leaves_no_gap_and_no_dangling_repeat() -> None:
    """Later numbers close up; a repeat of something that is gone goes too."""
    log = links(RUN, recorded(4))
    kept = [place for place in range(len(log)) if place not in (0, 2)]
    events = rewritten(RUN, log, kept)
    assert all(said.observables["issues"] == [] for said in declared(RUN, events))
    assert declared(RUN, events)[-1].observables["duplicates"] == 0


def test_a_neutral_stream_shows_the_same_and_tells_nothing() -> None:
    """Statuses stay; texts, ids and the run's name go."""
    events = recorded(3)
    fresh = neutral(RUN, events)
    assert [said.status for said in declared(RUN, events)] == [
        said.status for said in declared("run-A", fresh)
    ]
    written = json.dumps(fresh)
    for private in ("secret", "more", "session", "somebody", "theirs", "transfer"):
        assert private not in written


def test_a_neutral_digest_is_right_where_it_was_right() -> None:
    """A verdict stays bound to its text, or to another one."""
    host = Producer(RUN)
    end = host.emit("run.ended", outcome="succeeded", final_text="F9")
    right = {"digest": _digest("F9"), "ok": True}
    for verdict, status in ((right, "done"), ({**right, "digest": _digest("F8")}, "unknown")):
        fresh = neutral(RUN, [end, host_check(verdict)])
        assert declared("run-A", fresh)[-1].status == status


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def host_check(verdict: dict[str, object]) -> dict[str, object]:
    """The second event of the run: a check."""
    return {"run": RUN, "id": f"{RUN}:2", "seq": 2, "kind": "app.checked", "data": verdict}
