"""More letters than exploration has: ways to make a move that say more exactly what it says.

Like those of `generators.moves`, each makes its event from the oracle's state and knows what it
is, so streams of them can be shortened and stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from doneness.generators.moves import Template, envelope, filled, good, repr_of
from doneness.generators.oracle import Move, Oracle
from doneness.spec import lifecycle
from doneness.spec.vocabulary import Kind

Event = dict[str, Any]


def says(kind: str, data: Event, **changes: Any) -> Template:
    """A good event; `changes` to its envelope may be an id."""
    name = f"{kind} {_shown(data)}" + (f" under the id {_shown(changes['id'])}" if changes else "")

    def make(oracle: Oracle) -> Move | None:
        if changes.get("id") in oracle.remembered:
            return None
        return good(oracle, name, str(kind), filled(oracle, data), **changes)

    return Template(name, "kind", make)


def ill(kind: str, data: Event) -> Template:
    """An event of a known kind whose payload is none of that kind."""
    name = f"{kind} with {_shown(data)}"
    trigger = lifecycle.CHECKED_BADLY if kind == Kind.APP_CHECKED else lifecycle.BAD_PAYLOAD

    def make(oracle: Oracle) -> Move:
        event = envelope(oracle, kind, filled(oracle, data))
        return Move(name, event, trigger=trigger, seq=event["seq"])

    return Template(name, "payload", make)


def unheard_of(kind: str, data: Event, **changes: Any) -> Template:
    """An event of a kind that the contract does not have."""
    name = f"kind {kind!a:.40} {_shown(data)}"

    def make(oracle: Oracle) -> Move | None:
        if changes.get("id") in oracle.remembered:
            return None
        event = envelope(oracle, kind, data, **changes)
        return Move(name, event, trigger=lifecycle.UNKNOWN_KIND, seq=event["seq"])

    return Template(name, "kind", make)


def no_envelope(name: str, change: Callable[[Event], object], like: Template) -> Template:
    """What becomes of a good event when it is changed so that it is no envelope."""
    name = f"not an envelope: {name}"

    def make(oracle: Oracle) -> Move | None:
        move = like.make(oracle)
        if move is None or not isinstance(move.event, dict):
            return None
        return Move(name, change(dict(move.event)), caught="not_an_envelope")

    return Template(name, "envelope", make)


def no_json(kind: str, data: Event, **changes: Any) -> Template:
    """An envelope that holds what strict JSON does not have, but JSON text can carry."""
    name = f"not JSON: {kind} {_shown(data)} {_shown(changes) if changes else ''}".strip()
    return Template(
        name,
        "json",
        lambda oracle: Move(
            name, envelope(oracle, kind, data, **changes), caught="not_strict_json"
        ),
    )


def stray(run_of: Callable[[str], str], like: Template, **changes: Any) -> Template:
    """What another letter makes, but of another run."""
    shown = run_of("RUN")
    name = f"of the run {_shown(shown)}: {like.name}"

    def make(oracle: Oracle) -> Move | None:
        move = like.make(oracle)
        run = run_of(oracle.run)
        if move is None or not isinstance(move.event, dict) or run in ("", oracle.run):
            return None
        return Move(name, {**move.event, **changes, "run": run}, caught="another_run")

    return Template(name, "foreign", make)


def numbered(seq_of: Callable[[int], int], name: str, kind: str, data: Event) -> Template:
    """A good event whose number is not the next."""

    def make(oracle: Oracle) -> Move | None:
        seq = seq_of(oracle.last_seq)
        if seq < 1 or seq == oracle.last_seq + 1:
            return None
        fresh = f"{oracle.run}#{len(oracle.remembered)}"
        move = good(oracle, name, str(kind), data, seq=seq, id=fresh)
        return Move(
            name,
            move.event,
            trigger=move.trigger,
            seq=seq,
            in_order=False,
            args=data,
            facts=move.facts,
        )

    return Template(name, "order", make)


def skipping(like: Template) -> Template:
    """What another letter makes, but its number is one too many; its id is free."""
    name = f"{like.name} behind a gap"

    def make(oracle: Oracle) -> Move | None:
        move = like.make(oracle)
        if move is None or not isinstance(move.event, dict) or move.caught is not None:
            return None
        fresh = f"{oracle.run}#{len(oracle.remembered)}"
        event = {**move.event, "seq": move.seq + 1, "id": fresh}
        return replace(move, name=name, event=event, seq=move.seq + 1, in_order=False)

    return Template(name, "order", make)


def again(name: str, place: int, change: Callable[[Event], Event | None] = dict) -> Template:
    """An event that is on record, as it was or changed; the place is that among the ids."""

    def make(oracle: Oracle) -> Move | None:
        before: list[Any] = list(oracle.remembered.values())
        if not -len(before) <= place < len(before):
            return None
        event = before[place]
        changed = change(event)
        if changed is None:
            return None
        same = repr_of(changed) == repr_of(event)
        caught = "same_id_same_content" if same else "same_id_other_content"
        return Move(name, changed, caught=caught)

    return Template(name, "repeat", make)


def _shown(value: object, width_max: int = 40) -> str:
    text = ascii(value)
    return text if len(text) <= width_max else f"{text[: width_max - 1]}…"
