"""A case as a sequence picture: who tells whom what, from the host to the view.

Host: the application that runs the agent and makes the events. Transport: what carries them.
Reducer: what derives the status. View: what a person sees. The statuses are those of the
declaration; where a case says what a subject showed instead, the first difference is marked.

Mermaid for pages that draw it themselves; SVG for all others, laid out here, since a sequence
needs no more than a column for each party and a line for each message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Final

from doneness.diagrams.dot import FONT
from doneness.diagrams.drawing import Mark
from doneness.diagrams.path import Step, printable, steps
from doneness.diagrams.theme import LIGHT, Theme
from doneness.fixtures.cases import Case
from doneness.spec.lifecycle import EOF
from doneness.spec.vocabulary import LABELS, Status


class Party(StrEnum):
    """Who takes part, from left to right."""

    HOST = "host"
    TRANSPORT = "transport"
    REDUCER = "reducer"
    VIEW = "view"


PARTIES: Final = tuple(Party)


@dataclass(frozen=True, slots=True)
class Message:
    """An arrow from one party to another, or a note at one.

    Attributes:
        target: None for a note.
        mark: `left` where a subject left the path.
        broken: Whether this is the end of the connection and not a message.
    """

    source: Party
    target: Party | None
    words: str
    mark: Mark = Mark.NONE
    broken: bool = False


def messages(case: Case) -> tuple[Message, ...]:
    """The messages of a case, in order."""
    return tuple(_messages(steps(case)))


def _messages(taken: Sequence[Step]) -> Iterator[Message]:
    status: str | None = None
    strayed = False
    for run in _runs(taken):
        step = run[0]
        event = _event(run)
        if step.arrow.trigger == EOF:
            yield Message(Party.HOST, Party.TRANSPORT, event, broken=True)
            yield Message(Party.TRANSPORT, Party.REDUCER, "close_transport()")
        else:
            yield Message(Party.HOST, Party.TRANSPORT, event)
            yield Message(
                Party.TRANSPORT, Party.REDUCER, f"feed × {len(run)}" if run[1:] else "feed"
            )
        said = _remark(step)
        if said:
            yield Message(Party.REDUCER, None, said)
        if step.strays and not strayed:
            strayed = True
            shown = printable(str(step.shown), 20)
            yield Message(Party.REDUCER, Party.VIEW, f"✗ {shown}", mark=Mark.LEFT)
            yield Message(Party.VIEW, None, f"✗ declared: {step.status}")
        elif step.status != status:
            yield Message(Party.REDUCER, Party.VIEW, step.status)
            yield Message(Party.VIEW, None, LABELS["en"][Status(step.status)])
        status = step.status


def _runs(taken: Sequence[Step]) -> Iterator[list[Step]]:
    """Steps that are drawn as one: repeats of an event that change nothing that can be seen."""
    run: list[Step] = []
    for step in taken:
        if run and not _repeats(run[-1], step):
            yield run
            run = []
        run.append(step)
    if run:
        yield run


def _repeats(before: Step, step: Step) -> bool:
    same = (before.arrow, before.after, before.status) == (step.arrow, step.after, step.status)
    return same and not step.issues and before.strays == step.strays


def _event(run: Sequence[Step]) -> str:
    first, last = run[0].number, run[-1].number
    return f"{first}{f'-{last}' if last > first else ''}  {run[0].arrow.trigger}"


def _remark(step: Step) -> str:
    """What the reducer records beside the status."""
    if step.issues:
        return f"issue: {', '.join(step.issues)}"
    if step.arrow.refused:
        return f"refused again: {step.arrow.refused}"
    if step.after == step.arrow.source and step.arrow.trigger in UNCOUNTED:
        return "counted, nothing else"
    return ""


UNCOUNTED: Final = ("another run", "same id same content")


# Mermaid.


def mermaid(case: Case) -> str:
    """The picture as a Mermaid sequence diagram."""
    lines = [
        "---",
        f"title: {json.dumps(printable(case.name), ensure_ascii=False)}",
        "---",
        "sequenceDiagram",
    ]
    lines += [f"    participant {party.name} as {party}" for party in PARTIES]
    for message in messages(case):
        words = _plain(message.words)
        if message.target is None:
            lines.append(f"    Note over {message.source.name}: {words}")
        else:
            arrow = "--x" if message.broken else "->>"
            lines.append(f"    {message.source.name}{arrow}{message.target.name}: {words}")
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    """Text without the signs that mean something to Mermaid."""
    return text.replace("#", "#35;").replace(";", "#59;").replace(":", "#58;")


# SVG.

FONT_PIXELS: Final = 14  # 10.5 points
CHARACTER_PIXELS: Final = 8.2  # of the widest usual font at that size
LANE_PIXELS: Final = 225
LINE_PIXELS: Final = 30
TOP_PIXELS: Final = 84
MARGIN_PIXELS: Final = 70
WIDTH_PIXELS: Final = 2 * MARGIN_PIXELS + 3 * LANE_PIXELS + 60
NOTE_CHARACTERS_MAX: Final = 27


def svg(case: Case, theme: Theme = LIGHT) -> str:
    """The picture as SVG."""
    name = escape(printable(case.name))
    placed, bottom = _placed(messages(case))
    size = f'width="{WIDTH_PIXELS}" height="{bottom}" viewBox="0 0 {WIDTH_PIXELS} {bottom}"'
    font = f'font-family="{FONT}" font-size="{FONT_PIXELS}"'
    title = f'<text x="14" y="24" font-weight="bold" fill="{theme.ink}">{name}</text>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">',
        f"<title>{name}</title>",
        f'<rect width="100%" height="100%" fill="{theme.page}"/>',
        title,
        *(_party(party, bottom, theme) for party in PARTIES),
    ]
    for message, y in placed:
        if message.target is None:
            parts.append(_note(message, y, theme))
        else:
            parts.append(_line(message, message.target, y, theme))
    return "\n".join([*parts, "</svg>", ""])


def _placed(all_: Sequence[Message]) -> tuple[list[tuple[Message, int]], int]:
    """Each message with its height, and the end; what goes on where it came to shares the line."""
    placed: list[tuple[Message, int]] = []
    top = bottom = TOP_PIXELS
    before: Message | None = None
    for message in all_:
        if before is None or before.target is not message.source or message.target is None:
            top = bottom
        placed.append((message, top))
        bottom = max(bottom, top + _height(message))
        before = message
    return placed, bottom + 24


def _party(party: Party, bottom: int, theme: Theme) -> str:
    x = _x(party)
    return (
        f'<line x1="{x}" y1="{TOP_PIXELS - 20}" x2="{x}" y2="{bottom - 10}" '
        f'stroke="{theme.frame}" stroke-dasharray="4 4"/>'
        f'<rect x="{x - 50}" y="{TOP_PIXELS - 46}" width="100" height="28" rx="6" '
        f'fill="{theme.fills["live"]}" stroke="{theme.ink}"/>'
        f"{_text(x, TOP_PIXELS - 27, party, theme.ink)}"
    )


def _height(message: Message) -> int:
    lines = len(_note_lines(message)) if message.target is None else 1
    return LINE_PIXELS + (lines - 1) * 17 + (4 if message.target is None else 6)


def _x(party: Party) -> int:
    return MARGIN_PIXELS + PARTIES.index(party) * LANE_PIXELS


def _line(message: Message, target: Party, y: int, theme: Theme) -> str:
    x1, x2 = _x(message.source), _x(target)
    ink = theme.lines.get(message.mark, theme.ink)
    width = 2.4 if message.mark is not Mark.NONE else 1.3
    at = y + LINE_PIXELS - 6
    dash = ' stroke-dasharray="6 4"' if message.broken else ""
    tip = (
        f'<path d="M{x2 - 16} {at - 5}l10 10m0 -10l-10 10" stroke="{ink}" fill="none"/>'
        if message.broken
        else f'<path d="M{x2 - 9} {at - 4.5}L{x2 - 1} {at}L{x2 - 9} {at + 4.5}z" fill="{ink}"/>'
    )
    middle = (x1 + x2) / 2
    return (
        f'<line x1="{x1}" y1="{at}" x2="{x2 - 3}" y2="{at}" stroke="{ink}" '
        f'stroke-width="{width}"{dash}/>{tip}'
        f"{_text(middle, at - 6, message.words, ink)}"
    )


def _note(message: Message, y: int, theme: Theme) -> str:
    lines = _note_lines(message)
    width = max(map(len, lines)) * CHARACTER_PIXELS + 16
    height = 17 * len(lines) + 9
    x = min(_x(message.source), WIDTH_PIXELS - width / 2 - 6)
    texts = "".join(
        _text(x, y + 22 + 17 * number, line, theme.ink) for number, line in enumerate(lines)
    )
    fill = theme.fills["unknown" if message.source is Party.REDUCER else "ended"]
    return (
        f'<rect x="{x - width / 2:g}" y="{y + 5}" width="{width:g}" height="{height}" rx="3" '
        f'fill="{fill}" stroke="{theme.frame}"/>{texts}'
    )


def _note_lines(message: Message) -> list[str]:
    lines: list[str] = []
    for word in message.words.split():
        if lines and len(lines[-1]) + 1 + len(word) <= NOTE_CHARACTERS_MAX:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _text(x: float, y: float, words: str, ink: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="{ink}">{escape(words)}</text>'
