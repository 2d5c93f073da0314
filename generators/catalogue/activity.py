"""Reducers that mistake what happens during the run: tools, approvals, verdicts."""

from __future__ import annotations

from typing import Any

from doneness.generators.catalogue.common import Wrong
from doneness.spec.vocabulary import CallState, Issue, Status


class FailedToolFailsTheRun(Wrong):
    """A failed call is a failed run, although the agent may recover.

    Seen where: one failed call showed the run as failed (Agenta-AI/agenta#4976).
    """

    def shown(self, status: Status) -> Status:
        failed = CallState.FAILED in self.tools.values()
        return Status.FAILED if failed and status is Status.RUNNING else status


class ResultBeforeRequest(Wrong):
    """A result that nobody asked for makes its call up.

    Seen where: results that overtook their requests (slopus/happy PR #1281).
    """

    def feed(self, event: Any) -> None:
        if isinstance(event, dict) and event.get("kind") == "tool.finished":
            data = event.get("data")
            call = data.get("call_id") if isinstance(data, dict) and len(data) == 1 else None
            if isinstance(call, str) and call and call not in self._calls and self._live():
                self._calls[call] = CallState.REQUESTED
        super().feed(event)

    def _live(self) -> bool:
        return self.terminal is None and not self.closed


class FinishedTwice(Wrong):
    """A call that returned may still fail: the last word counts.

    Seen where: output in pieces, each with an end of its own (assistant-ui/assistant-ui PR #7775).
    """

    def feed(self, event: Any) -> None:
        call = event["data"].get("call_id") if _is_call(event, "tool.failed") else None
        if call is not None and self._calls.get(call) is CallState.RETURNED:
            self._calls[call] = CallState.RUNNING
            super().feed(event)
            if self._calls[call] is CallState.RUNNING:
                self._calls[call] = CallState.RETURNED
            return
        super().feed(event)


class TextEndsTheWait(Wrong):
    """Text after an approval wait shows the run as running again.

    Seen where: a run that started twice and then waited (ag-ui-protocol/ag-ui#1584).
    """

    def admitted(self, event: dict[str, Any]) -> None:
        if event["kind"] == "text.delta" and not self.terminal and not self.closed:
            self._waiting = False


class TextEndsTheCancelling(Wrong):
    """Any sign of life takes the cancel request back.

    Seen where: the source ignored the cancel and went on (ag-ui-protocol/ag-ui#2417).
    """

    def admitted(self, event: dict[str, Any]) -> None:
        if event["kind"] == "text.delta":
            self._cancel_requested = False


class BrokenResponseIsNothing(Wrong):
    """A model response that ended badly leaves the run as it was.

    Seen where: `response.incomplete` was passed over (langchain-ai/langchain#33840).
    """

    def admitted(self, event: dict[str, Any]) -> None:
        self._unresolved = False


class VerdictOfAnyText(Wrong):
    """A verdict counts whatever text it was given on.

    Seen where: verdicts on a state long left behind (apmantza/pi-lens#2542).
    """

    def feed(self, event: Any) -> None:
        if _is_check(event):
            data = event["data"]
            before = list(self.issues)
            super().feed(event)
            refused = before != self.issues and self.issues[-1] is Issue.BAD_PAYLOAD_OR_TRANSITION
            if refused and self.verdict is None and self.terminal == "succeeded":
                self._issues.pop()
                self._verdict = data["ok"]
            return
        super().feed(event)


class SecondVerdictWins(Wrong):
    """A later verdict replaces the first.

    Seen where: an update behind the verdict (a2aproject/a2a-python PR #1182).
    """

    def feed(self, event: Any) -> None:
        if _is_check(event) and not self.issues:
            self._verdict = None
        super().feed(event)


class UpdatesAfterTheEnd(Wrong):
    """Text behind the end is still added, and nobody minds.

    Seen where: late tool arguments trailed behind the end (ag-ui-protocol/ag-ui#2813).
    """

    def feed(self, event: Any) -> None:
        if isinstance(event, dict) and event.get("kind") == "text.delta":
            terminal, self._terminal = self._terminal, None
            super().feed(event)
            self._terminal = terminal
            return
        super().feed(event)


def _is_call(event: Any, kind: str) -> bool:
    return (
        isinstance(event, dict)
        and event.get("kind") == kind
        and isinstance(event.get("data"), dict)
        and isinstance(event["data"].get("call_id"), str)
    )


def _is_check(event: Any) -> bool:
    return (
        isinstance(event, dict)
        and event.get("kind") == "app.checked"
        and isinstance(event.get("data"), dict)
        and event["data"].keys() == {"digest", "ok"}
        and isinstance(event["data"]["digest"], str)
        and isinstance(event["data"]["ok"], bool)
    )
