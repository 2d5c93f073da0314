"""How sets of triggers, and conditions, are said in few words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from doneness.diagrams.model import Arrow

FAMILY_MIN = 3
"""A family of triggers (`tool.*`) has a name of its own from this size on."""


def said(triggers: Collection[str], universe: Sequence[str]) -> tuple[str, ...]:
    """The triggers in few words, exactly: `tool.*`, `anything but eof`, or one by one.

    Args:
        triggers: Some of the universe.
        universe: All triggers of the machine, in order.
    """
    left_out = [trigger for trigger in universe if trigger not in triggers]
    if len(universe) > FAMILY_MIN and len(triggers) > 1 and len(left_out) <= 1:
        return (f"anything but {left_out[0]}",) if left_out else ("anything",)
    words: list[str] = []
    for trigger in universe:
        if trigger in triggers:
            word = _family(trigger, triggers, universe) or trigger
            if word not in words:
                words.append(word)
    return tuple(words)


def _family(trigger: str, triggers: Collection[str], universe: Sequence[str]) -> str | None:
    """`tool.*` where all of the universe's `tool.…` are among the triggers."""
    for mark in (".", "/"):
        head, found, _ = trigger.partition(mark)
        members = [other for other in universe if other.startswith(head + mark)]
        if found and len(members) >= FAMILY_MIN and all(other in triggers for other in members):
            return f"{head}{mark}*"
    return None


def condition(arrow: Arrow) -> str:
    """`[a, not b]`, `[otherwise]`, or nothing."""
    guards = [*arrow.guards, *(["otherwise"] if arrow.otherwise else [])]
    return f"[{', '.join(guards)}]" if guards else ""


def phrases(
    arrows: Iterable[Arrow], universe: Sequence[str]
) -> Iterator[tuple[str, tuple[Arrow, ...]]]:
    """What stands on the edge of these parallel arrows: one phrase for each condition and answer.

    `run.ended/succeeded [final_text, not waiting]`, or `tool.* [otherwise] / bad_payload`; each
    with the arrows that it says.
    """
    together: dict[tuple[str, str | None], list[Arrow]] = {}
    for arrow in arrows:
        together.setdefault((condition(arrow), arrow.refused), []).append(arrow)
    for (guard, refused), family in together.items():
        phrase = ", ".join(said([arrow.trigger for arrow in family], universe))
        if guard:
            phrase += f" {guard}"
        if refused:
            phrase += f" / {refused}"
        yield phrase, tuple(family)


def wrapped(phrase: str, characters_max: int) -> tuple[str, ...]:
    """The phrase in lines of at most so many characters, where its words allow it.

    A condition or an answer that does not fit behind what stands before it starts a new line; a
    long word breaks behind its `.` or `/`.
    """
    if len(phrase) <= characters_max:
        return (phrase,)
    lines: list[str] = []
    for part in re.split(r" (?=\[|/ )", phrase):
        if lines and len(f"{lines[-1]} {part}") <= characters_max:
            lines[-1] += f" {part}"
            continue
        line = ""
        for piece in _pieces(part, characters_max):
            if line and len((line + piece).rstrip()) > characters_max:
                lines.append(line.rstrip())
                line = ""
            line += piece
        lines.append(line.rstrip())
    return tuple(lines)


def _pieces(text: str, characters_max: int) -> Iterator[str]:
    """What a line may end with: a word and its space, or a part of a word that is too long."""
    for word in re.findall(r"\[?not (?!in )\S+\s*|/ \S+\s*|\S+\s*", text):
        if len(word.rstrip()) <= characters_max or word.startswith("/ "):
            yield word
        else:
            yield from re.findall(r"[^./ ]+[./ ]*|[./ ]+", word)
