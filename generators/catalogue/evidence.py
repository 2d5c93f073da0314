"""Reducers that believe, forget or mistake evidence: repeats, gaps, other runs."""

from __future__ import annotations

import json
from typing import Any

from doneness.generators.catalogue.common import Wrong
from doneness.spec.vocabulary import Issue, Status

_KEYS = {"run", "id", "seq", "kind", "data"}


class DedupesBySeq(Wrong):
    """Whatever is not newer than the last number is dropped as a repeat, unread.

    Seen where: a replay after a reconnect that differed (vercel/ai#14688).
    """

    def feed(self, event: Any) -> None:
        numbered = isinstance(event, dict) and event.keys() == _KEYS and type(event["seq"]) is int
        if numbered and 1 <= event["seq"] <= self.last_seq:
            return
        super().feed(event)


class ForeignEventsLeakIn(Wrong):
    """The run's name is never looked at.

    Seen where: three runs shared one stream (ag-ui-protocol/ag-ui#2408).
    """

    def feed(self, event: Any) -> None:
        if isinstance(event, dict) and isinstance(event.get("run"), str) and event["run"]:
            event = {**event, "run": self.run}
        super().feed(event)


class ForeignEndStopsThis(Wrong):
    """The end of another run ends this one; everything else of it is passed over.

    Seen where: one agent's end stopped the other's view (agent-of-empires/agent-of-empires#1170).
    """

    def feed(self, event: Any) -> None:
        ends = isinstance(event, dict) and event.get("kind") == "run.ended"
        if ends and isinstance(event.get("run"), str) and event["run"]:
            event = {**event, "run": self.run}
        super().feed(event)


class RunComparedByPrefix(Wrong):
    """An event belongs to the run if this run's name begins with its run's name.

    Seen where: threads told apart by prefixes (langchain-ai/chat-langchain#381).
    """

    def feed(self, event: Any) -> None:
        run = event.get("run") if isinstance(event, dict) else None
        if isinstance(run, str) and run and self.run.startswith(run):
            event = {**event, "run": self.run}
        super().feed(event)


class GapsAreIgnored(Wrong):
    """A number that is skipped is nobody's business.

    Seen where: events were lost in a reconnect (vercel/ai#13160).
    """

    @property
    def issues(self) -> list[Issue]:
        return [one for one in super().issues if one is not Issue.SEQUENCE_GAP_OR_REORDER]

    def shown(self, status: Status) -> Status:
        return Status.RUNNING if status is Status.UNKNOWN and self._only_a_gap() else status

    def _only_a_gap(self) -> bool:
        return not (self.issues or self.terminal or self.closed or self.waiting or self.unresolved)


class SameIdIsADuplicate(Wrong):
    """An id that was seen is a duplicate, whatever it says now.

    Seen where: one id for two events (agent-of-empires/agent-of-empires#1100).
    """

    def feed(self, event: Any) -> None:
        before = super().issues
        super().feed(event)
        if Issue.ID_CONFLICT in super().issues and Issue.ID_CONFLICT not in before:
            self._issues.remove(Issue.ID_CONFLICT)
            self._duplicates += 1


class ContentAsWritten(Wrong):
    """Content is compared as JSON text in the order in which its keys came.

    Seen where: a hash of JSON as written (aws-powertools/powertools-lambda-python#638).
    """

    def feed(self, event: Any) -> None:
        text = _text(event)
        id_ = event.get("id") if isinstance(event, dict) else None
        known = self.__dict__.setdefault("texts", {})
        before = self.duplicates
        super().feed(event)
        if self.duplicates > before and known.get(id_, text) != text:
            self._duplicates -= 1
            self._issues.append(Issue.ID_CONFLICT)
        known.setdefault(id_, text)


class OneIsTrue(Wrong):
    """Content is compared with `==`, to which 1, 1.0 and true are the same.

    Seen where: 1.0 was taken for true (stefankoegl/python-json-patch#129).
    """

    def feed(self, event: Any) -> None:
        id_ = event.get("id") if isinstance(event, dict) else None
        known = self.__dict__.setdefault("events", {})
        before = list(self.issues)
        super().feed(event)
        if before != self.issues and self.issues[-1] is Issue.ID_CONFLICT and known[id_] == event:
            self._issues.pop()
            self._duplicates += 1
        if isinstance(id_, str):
            known.setdefault(id_, event)


class IssuesHealWithAGoodEnd(Wrong):
    """Once the host says succeeded, the doubts of before are put away.

    Seen where: a success behind a gap was believed (vercel/ai#13160).
    """

    def admitted(self, event: dict[str, Any]) -> None:
        if self.terminal == "succeeded" and event["kind"] == "run.ended":
            self._issues.clear()


class ForgetsToCount(Wrong):
    """The number of a repeat in disguise is not stored: what comes next looks like a gap.

    Seen where: duplicates left gaps in the numbers (RBMHTechnology/eventuate#12).
    """

    def admitted(self, event: dict[str, Any]) -> None:
        if event["kind"] == "approval.wait" and self._next_seq is not None:
            self._next_seq -= 1


class MalformedIsSkipped(Wrong):
    """What cannot be read is logged and skipped; the run still shows as healthy.

    Seen where: lines that were no JSON were skipped (ndycode/codex-multi-auth PR #404).
    """

    def feed(self, event: Any) -> None:
        before = list(self.issues)
        super().feed(event)
        if before != self.issues and self.issues[-1] is Issue.BAD_ENVELOPE:
            self._issues.pop()


class EventsAfterEofCount(Wrong):
    """A reconnected socket goes on in the same reducer, as if nothing had been missed.

    Seen where: what arrived behind the end of the connection (openai/openai-agents-python#574).
    """

    def feed(self, event: Any) -> None:
        closed, self._closed = self._closed, False
        super().feed(event)
        self._closed = closed


def _text(event: Any) -> str:
    try:
        return json.dumps(event)
    except (TypeError, ValueError, RecursionError):
        return ""
