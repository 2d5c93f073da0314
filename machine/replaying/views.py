"""How a replay is printed: a table for people, JSON Lines for machines.

Both are made line by line. Nothing of an event reaches the terminal but visible characters; the
JSON is plain ASCII.
"""

from __future__ import annotations

import json
import re
from typing import Final, Protocol

from doneness.machine.replaying.recordings import Fed, Recording
from doneness.machine.replaying.steps import Step
from doneness.machine.visible import brief, padded, visible
from doneness.spec.vocabulary import Status

_EVENT_COLUMNS: Final = 48
_STATUS_COLUMNS: Final = max(map(len, Status))
_MEMBERS_MAX: Final = 6
_REASON_WIDTH_MAX: Final = 200  # it says what was expected and what came, so it is shown whole
_ENVELOPE: Final = {"run", "id", "seq", "kind", "data"}


class View(Protocol):
    """Turns a replay into lines, without their ends."""

    def opening(self, recording: Recording) -> list[str]:
        """What stands before the steps."""

    def line(self, recording: Recording, step: Step) -> str:
        """One step."""

    def closing(self, recording: Recording, last: Step) -> list[str]:
        """What stands behind the steps."""


class Table:
    """A numbered table: event, status, label, and the issues as they are recorded."""

    def opening(self, recording: Recording) -> list[str]:
        """The name of the stream, and its run."""
        run = f"run {visible(recording.run, 60)}"
        if recording.bound_by == "the first envelope":
            run += ", as the first envelope says; --run binds another"
        return [f"{visible(recording.name, 200)} ({run})"]

    def line(self, recording: Recording, step: Step) -> str:
        """Number, event, status, label; then new issues, and an expectation that is not met."""
        event = padded(described(step.fed, recording.run), _EVENT_COLUMNS)
        status = padded(step.status, _STATUS_COLUMNS)
        line = f"{step.number:>4}  {event}  {status}  {step.message}"
        if step.news:
            line += f"  ! {', '.join(step.news)}"
        return line if step.is_as_expected else f"{line}  != expected {step.expected}"

    def closing(self, recording: Recording, last: Step) -> list[str]:
        """All issues, what is missing for *done*, and the task if it has several runs."""
        lines = [
            f"issues: {', '.join(last.issues) or 'none'}",
            f"missing for done: {visible('; '.join(last.missing), 400) or 'nothing'}",
        ]
        if last.task is not None:
            lines.append(f"task so far: {last.task[0]}  {last.task[1]}")
        if last.fed.eof and last.number == 1:
            lines.insert(0, "no event: the stream is empty, or was cut before its first event")
        if recording.note:
            lines.append(f"whose word: {recording.note}")
        return [*lines, ""]


class JSONLines:
    """One object a step: `case`, `run`, `step`, `eof`, `event`, `status`, `label`, `issues`.

    `event` is what was fed, null at EOF. `expected` stands there where the stream expects
    a status. `run_bound_by` says who named the run. At EOF, `missing` holds what is missing for
    *done*, and `task` and `task_label` stand for a task of several runs. Of a capture, `said` is
    the event type in the words of its format.
    """

    def opening(self, recording: Recording) -> list[str]:  # noqa: ARG002 # a View
        """Nothing: each line says what it belongs to."""
        return []

    def line(self, recording: Recording, step: Step) -> str:
        """One object, in ASCII."""
        before = {
            "case": recording.name,
            "run": recording.run,
            "run_bound_by": recording.bound_by,
            "step": step.number,
            "eof": step.fed.eof,
        }
        after: dict[str, object] = {
            "status": step.status,
            "label": step.message,
            "issues": step.issues,
        }
        if step.expected is not None:
            after["expected"] = step.expected
        if step.fed.said:
            after["said"] = step.fed.said
        if step.fed.eof:
            after["missing"] = step.missing
        if step.task is not None:
            after["task"], after["task_label"] = step.task
        opened = json.dumps(before)[:-1]
        closed = json.dumps(after)[1:]
        return _escaped(f'{opened}, "event": {_event_json(step.fed)}, {closed}')

    def closing(self, recording: Recording, last: Step) -> list[str]:  # noqa: ARG002 # a View
        """Nothing: the last line has it all."""
        return []


def described(fed: Fed, run: str) -> str:
    """What was fed, for people: id, kind and payload of an envelope, else the value itself."""
    event = fed.event
    if fed.eof:
        return "EOF"
    if fed.observed:
        return f"({visible(fed.said, 40)})"
    if not isinstance(event, dict) or event.keys() != _ENVELOPE:
        return brief(event)
    seq, data = event["seq"], event["data"]
    words = [_word(event["id"]), _word(event["kind"])]
    if event["id"] != f"{event['run']}:{brief(seq)}":
        words.insert(1, f"seq={brief(seq)}")
    if event["run"] != run:
        words.insert(0, f"run={_word(event['run'])}")
    if not isinstance(data, dict):
        return " ".join([*words, f"data={brief(data)}"])
    members = list(data.items())
    words += [
        f"{_word(name)}={brief(value, _REASON_WIDTH_MAX if name == 'reason' else 40)}"
        for name, value in members[:_MEMBERS_MAX]
    ]
    if len(members) > _MEMBERS_MAX:
        words.append(f"… ({len(members) - _MEMBERS_MAX:,} more)")
    return " ".join(words)


def _word(value: object) -> str:
    """A name without quotes where that is clear."""
    if isinstance(value, str) and value and not re.search(r"[\s\"=]", value):
        return visible(value, 40)
    return brief(value, 40)


def _event_json(fed: Fed) -> str:
    if fed.eof or fed.observed:
        return "null"
    if fed.line is not None:
        return fed.line.decode()
    try:
        return json.dumps(fed.event)
    except (ValueError, RecursionError):  # an integer too long to be written in decimal
        return json.dumps(brief(fed.event))


def _escaped(text: str) -> str:
    """A JSON text in printable ASCII; what is outside of strings is white space."""
    return re.sub(r"[^\x20-\x7e]", _escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\t\r\n":
        return " "
    return json.dumps(character)[1:-1] if ord(character) != 0x7F else "\\u007f"
