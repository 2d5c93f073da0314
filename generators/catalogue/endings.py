"""Reducers that take something else for the end of the run, or the end for something else."""

from __future__ import annotations

from typing import Any

from doneness.generators.catalogue.common import Wrong
from doneness.spec.vocabulary import CallState, Kind, Outcome, Status


class DoneOnLastFragment(Wrong):
    """An empty text fragment is taken for the end mark, and the run shows done.

    Seen where: a stream whose last chunk is empty, shown as whole (ag-ui-protocol/ag-ui#2300).
    """

    done = False

    def admitted(self, event: dict[str, Any]) -> None:
        self.done |= event["kind"] == Kind.TEXT_DELTA and event["data"].get("text") == ""

    def shown(self, status: Status) -> Status:
        return Status.DONE if self.done and status is Status.RUNNING else status


class DoneOnModelCompleted(Wrong):
    """A completed model response ends the run, although tools and further responses follow.

    Seen where: it comes once for each model call (openai/openai-agents-python#2427).
    """

    def shown(self, status: Status) -> Status:
        return Status.DONE if status is Status.RUNNING and self.model_responses else status


class EofIsSuccess(Wrong):
    """A stream that ends without an error is a success.

    Seen where: a connection was cut in half a sentence (ag-ui-protocol/ag-ui#2300).
    """

    def shown(self, status: Status) -> Status:
        return Status.DONE if self.closed and not self.issues and not self.terminal else status


class EofIsFailure(Wrong):
    """A connection that breaks is a failed run, although the run may go on without its reader.

    Seen where: the tool outlived the reader (openai/openai-agents-python#574).
    """

    def shown(self, status: Status) -> Status:
        return Status.FAILED if self.closed and not self.issues and not self.terminal else status


class CancelRequestIsCancelled(Wrong):
    """The button was pressed, so the run is cancelled; nobody confirmed it.

    Seen where: a cancel before the socket closed (assistant-ui/assistant-ui#6745).
    """

    def shown(self, status: Status) -> Status:
        return Status.CANCELLED if status is Status.CANCELLING else status


class LateSuccessOverwritesCancel(Wrong):
    """A success that comes after the confirmed cancel replaces it.

    Seen where: a source ignored the cancel (ag-ui-protocol/ag-ui#2417).
    """

    def feed(self, event: Any) -> None:
        if self.terminal is Outcome.CANCELLED and _ends_with(event, Outcome.SUCCEEDED):
            self._terminal, self._final_text = Outcome.SUCCEEDED, event["data"]["final_text"]
            return
        super().feed(event)


class LastTerminalWins(Wrong):
    """Each end replaces the one before, as a callback that assigns the status does.

    Seen where: an error and then a finish (ag-ui-protocol/ag-ui#1892; scitix/siclaw PR #340).
    """

    def feed(self, event: Any) -> None:
        if self.terminal and _ends_with(event, *Outcome):
            self._terminal = Outcome(event["data"]["outcome"])
            return
        super().feed(event)


class PauseIsFinished(Wrong):
    """A run that stopped for an approval shows as finished.

    Seen where: a pause with open requests (microsoft/agent-framework#8244).
    """

    def shown(self, status: Status) -> Status:
        return Status.DONE if self.terminal is Outcome.PAUSED and not self.issues else status


class FinishedByName(Wrong):
    """Any kind whose name ends in completed is taken for good news and passed over.

    Seen where: a step's end was taken for the run's (multica-ai/multica#5233).
    """

    def feed(self, event: Any) -> None:
        if isinstance(event, dict) and str(event.get("kind")).endswith(".completed"):
            event = {**event, "kind": "model.completed", "data": {"response_id": "r"}}
        super().feed(event)


class OpenToolsClearedAtEnd(Wrong):
    """When the run ends, calls that are still open are put away as returned.

    Seen where: a background tool was open at the end (stablyai/orca#20810).
    """

    def admitted(self, event: dict[str, Any]) -> None:
        if self.terminal:
            self._calls = dict.fromkeys(self._calls, CallState.RETURNED)


class SuccessWithAnOpenCall(Wrong):
    """The host says succeeded, so it succeeded, whatever the calls do.

    Seen where: a tool that still ran in the background (anthropics/claude-code#82151).
    """

    def feed(self, event: Any) -> None:
        if _ends_with(event, Outcome.SUCCEEDED):
            kept, self._calls = self._calls, {}
            super().feed(event)
            self._calls = kept
            return
        super().feed(event)


class EmptyTextIsNoText(Wrong):
    """`if final_text:` takes an empty answer for none, and refuses the success.

    Seen where: an empty output showed an error (nornscode/norns#2).
    """

    def feed(self, event: Any) -> None:
        if _ends_with(event, Outcome.SUCCEEDED) and event["data"]["final_text"] == "":
            event = {**event, "data": {**event["data"], "final_text": None}}
        super().feed(event)


def _ends_with(event: Any, *outcomes: Outcome) -> bool:
    """Whether an event is a well-formed end with one of these outcomes."""
    try:
        ends = event["kind"] == Kind.RUN_ENDED and event["data"].keys() == {"outcome", "final_text"}
        return ends and event["data"]["outcome"] in [str(outcome) for outcome in outcomes]
    except (AttributeError, KeyError, TypeError):
        return False
