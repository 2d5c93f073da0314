"""The task view: several runs of one task, tied together, with one status for people.

A run that paused, failed or was cut off is not taken up again: resuming and retrying take a new
run with its own reducer. What people ask is about the task, though, and a task has one current
run, the last. How the one before gave way to it is a fact of its own:

| begun as | the run before must be |
|---|---|
| `start` | none: it is the first |
| `resume` | paused by its owner, without an issue; so it cannot be resumed twice |
| `retry` | ended: cancelled, failed, incomplete, rejected, or given up (its stream is closed) |

Anything else (a resume of what did not pause, a retry beside a run that may still be going, a new
run after a success) means that two runs may act for one task, and is an issue of the task. As in a
run, an issue is for good, and the status is *unknown*.

The status is derived, from the current run and from what the earlier ones show *now*: a pause
that a late event contradicts is no pause, so what was resumed from it stands on nothing.
"""

from __future__ import annotations

from enum import StrEnum, unique
from typing import Final, Literal, NamedTuple, TypeAlias

from doneness.machine.evidence import Lack, Missing, missing
from doneness.machine.reducer import Progress
from doneness.spec.vocabulary import LABELS, CallState, Language, Outcome, Status

How: TypeAlias = Literal["start", "resume", "retry"]


@unique
class TaskIssue(StrEnum):
    """Why the runs of a task do not make one story."""

    RUN_REUSED = "run_reused"  # a run was begun under the id of an earlier one
    RESUMED_WITHOUT_PAUSE = "resumed_without_pause"
    RETRIED_BEFORE_END = "retried_before_end"
    PAUSE_CONTRADICTED = "pause_contradicted"


class Leg(NamedTuple):
    """One run of a task."""

    progress: Progress
    how: How


_ENDED: Final = frozenset({Status.CANCELLED, Status.FAILED, Status.INCOMPLETE, Status.REJECTED})


class Task:
    """What is known about one task.

    `feed` and `close_transport` never raise; everything else but `begin` is read-only.

    Args:
        task: The id of the task, bound by the trusted host.
        run: The id of its first run.
        language: The language of `message`.

    Raises:
        TypeError: an id is not a `str`.
        ValueError: an id is empty or cannot be written as UTF-8, or the language is not known.
    """

    __slots__ = ("_by_run", "_foreign", "_issues", "_language", "_legs", "_task")

    def __init__(self, task: str, run: str, *, language: Language = "zh") -> None:
        self._task = Progress(task).run  # the same rules as for the id of a run
        self._language: Language = language
        self._foreign = 0
        self._issues: list[TaskIssue] = []
        first = Leg(Progress(run, language=language), "start")
        self._legs = [first]
        self._by_run = {first.progress.run: first.progress}

    # What goes in.

    def begin(self, run: str, how: Literal["resume", "retry"]) -> Progress:
        """The host begins another run of the task; it becomes the current one.

        A run that has no right to begin is recorded as an issue, and begins all the same: it is
        happening.

        Raises:
            TypeError: `run` is not a `str`.
            ValueError: `run` is empty or cannot be written as UTF-8, or `how` is not known.
        """
        if how not in ("resume", "retry"):
            raise ValueError(f"how: expected resume or retry, got {how!r}")
        progress = Progress(run, language=self._language)
        before = self.current
        if progress.run in self._by_run:
            self._refuse(TaskIssue.RUN_REUSED)
            return self._by_run[progress.run]
        if how == "resume" and not _paused(before):
            self._refuse(TaskIssue.RESUMED_WITHOUT_PAUSE)
        if how == "retry" and not _given_up(before):
            self._refuse(TaskIssue.RETRIED_BEFORE_END)
        self._legs.append(Leg(progress, how))
        self._by_run[progress.run] = progress
        return progress

    def feed(self, event: object) -> None:
        """Hand one envelope to the run that it names.

        What names no run of this task is counted as foreign; what is no envelope is judged by
        the current run.
        """
        try:
            run = event["run"] if type(event) is dict else None
            progress = self._by_run.get(run) if type(run) is str else None
        except Exception:  # noqa: BLE001 # another thread changed the object meanwhile
            progress = None
        if progress is not None:
            progress.feed(event)
            return
        before = self.current.foreign
        self.current.feed(event)
        self._foreign += self.current.foreign - before

    def close_transport(self, run: str | None = None) -> None:
        """The stream of a run ended; without a name, of the current one."""
        progress = self.current if run is None else self._by_run.get(run)
        if progress is not None:
            progress.close_transport()

    # What can be read.

    @property
    def task(self) -> str:
        """The id of the task."""
        return self._task

    @property
    def legs(self) -> tuple[Leg, ...]:
        """The runs, in order, and how each began."""
        return tuple(self._legs)

    @property
    def current(self) -> Progress:
        """The last run that began."""
        return self._legs[-1].progress

    @property
    def issues(self) -> list[TaskIssue]:
        """Why the runs do not make one story; each reason once, in order of appearance."""
        stands_on_nothing = any(
            leg.how == "resume" and not _paused(before.progress)
            for before, leg in zip(self._legs, self._legs[1:], strict=False)
        )
        if stands_on_nothing and TaskIssue.RESUMED_WITHOUT_PAUSE not in self._issues:
            return [*self._issues, TaskIssue.PAUSE_CONTRADICTED]
        return list(self._issues)

    @property
    def status(self) -> Status:
        """What to show for the task."""
        return Status.UNKNOWN if self.issues else self.current.status

    @property
    def message(self) -> str:
        """The label of the status, for people."""
        return LABELS[self._language][self.status]

    @property
    def final_text(self) -> str | None:
        """What the current run ended with."""
        return self.current.final_text

    @property
    def foreign(self) -> int:
        """How many envelopes named no run of this task."""
        return self._foreign

    @property
    def unsettled(self) -> tuple[tuple[str, str], ...]:
        """Calls of earlier runs whose effect is not known, as (run, call id).

        A cancel, a failure or a cut does not undo what a tool did; before people trust a retry,
        these want to be looked at. A paused run's calls are what its resumption goes on with.
        """
        return tuple(
            (leg.progress.run, call_id)
            for leg in self._legs[:-1]
            if leg.progress.terminal is not Outcome.PAUSED
            for call_id, state in leg.progress.tools.items()
            if state in (CallState.REQUESTED, CallState.RUNNING)
        )

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is missing for *done*: that of the current run, if the runs make one story."""
        issues = self.issues
        if issues:
            return (Missing(Lack.NEW_TASK, ", ".join(issues)),)
        return missing(self.current)

    def _refuse(self, issue: TaskIssue) -> None:
        if issue not in self._issues:
            self._issues.append(issue)


def _paused(progress: Progress) -> bool:
    return progress.terminal is Outcome.PAUSED and not progress.issues


def _given_up(progress: Progress) -> bool:
    """Whether nothing more of this run is to be waited for: it ended, or its stream is closed.

    A stream that is closed without an end, or with contradictory evidence, was given up.
    """
    if progress.status in _ENDED:
        return True
    return progress.closed and (progress.terminal is None or bool(progress.issues))
