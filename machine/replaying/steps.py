"""What a person would have been shown, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from doneness.machine.evidence import missing
from doneness.machine.reducer import Progress
from doneness.machine.replaying.recordings import EOF, Fed, Recording
from doneness.spec.vocabulary import LABELS, Language


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a replay.

    Attributes:
        number: From 1.
        fed: What was fed in this step.
        message: The label of the status.
        issues: All issues so far.
        news: Those that this step recorded.
        expected: The status that the recording expects here, if it expects any.
        missing: At EOF, what is missing for *done*, for people.
        task: At EOF, status and label of the task so far, if more than one of its runs was seen.
    """

    number: int
    fed: Fed
    status: str
    message: str
    issues: tuple[str, ...]
    news: tuple[str, ...]
    expected: str | None
    missing: tuple[str, ...] = ()
    task: tuple[str, str] | None = None

    @property
    def is_as_expected(self) -> bool:
        """Whether the recording expects this status, or none."""
        return self.expected in (None, self.status)


def replayed(recording: Recording, language: Language) -> Iterator[Step]:
    """Feed a recording to a reducer of its own; EOF is the last step, whether recorded or not."""
    progress = Progress(recording.run, language=language)
    number = 0
    ended = False
    for fed in recording.fed:
        number += 1
        ended = fed.eof
        yield _step(progress, number, fed, recording, language)
    if not ended:
        yield _step(progress, number + 1, EOF, recording, language)


def _step(
    progress: Progress, number: int, fed: Fed, recording: Recording, language: Language
) -> Step:
    before = len(progress.issues)
    if fed.eof:
        progress.close_transport()
    elif fed.observed:
        pass
    elif fed.line is not None:
        progress.feed_json(fed.line)
    else:
        progress.feed(fed.event)
    issues = tuple(str(issue) for issue in progress.issues)
    expected, task = recording.expected, recording.task
    several = (
        fed.eof and task is not None and len(task.legs) > 1 and task.current.run == progress.run
    )
    return Step(
        number,
        fed,
        str(progress.status),
        progress.message,
        issues,
        issues[before:],
        expected[number - 1] if number <= len(expected) else None,
        tuple(lack.text(language) for lack in missing(progress)) if fed.eof else (),
        (str(task.status), LABELS[language][task.status]) if task and several else None,
    )
