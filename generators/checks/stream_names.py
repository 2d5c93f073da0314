"""Short streams about names and texts: what is trimmed, folded, shortened or used as a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, permutations, product
from typing import Final

from doneness.generators.checks import look_alikes
from doneness.generators.checks.letters import again, says, stray, unheard_of
from doneness.generators.checks.stream_parts import (
    CHECKED,
    EOF,
    FAILED,
    FINISHED,
    REQUESTED,
    STARTED,
    SUCCEEDED,
    TEXT,
    Stream,
    streams,
)
from doneness.generators.exploration import RUN
from doneness.generators.moves import BY_NAME, FINAL_TEXT, ODD_TEXT, Template, digest_of
from doneness.spec.vocabulary import Kind, Outcome

# Names.


def names() -> Iterator[Stream]:
    """Ids, calls and responses that are alike; and names that mean something to a language."""
    for one, other in look_alikes.ALIKE:
        for first, second in ((one, other), (other, one)):
            yield from streams(
                (
                    says(Kind.TEXT_DELTA, {"text": t}, id=i)
                    for t, i in (("x", first), ("x", second))
                ),
                _calls((REQUESTED, first), (REQUESTED, second), (FINISHED, first)),
                _calls((REQUESTED, first), (FINISHED, second)),
                _calls((REQUESTED, first), (REQUESTED, second), (STARTED, second)),
                (says(Kind.MODEL_COMPLETED, {"response_id": name}) for name in (first, second)),
            )
    for name in (*look_alikes.NAMES, *(chain.from_iterable(look_alikes.ALIKE))):
        under = says(Kind.TEXT_DELTA, {"text": "x"}, id=name)
        unresolved = says(Kind.MODEL_UNRESOLVED, {"response_id": name, "reason": name})
        yield from streams(
            _calls(*((kind, name) for kind in (REQUESTED, STARTED, FINISHED, REQUESTED))),
            _calls((REQUESTED, name), (FAILED, name), (STARTED, name)),
            (*_calls((REQUESTED, name)), SUCCEEDED),
            *(_calls((kind, name)) for kind in (STARTED, FINISHED, FAILED)),
            (under, again("the last again", -1)),
            (under, again("the last id, other data", -1, lambda event: {**event, "data": {}})),
            (says(Kind.MODEL_COMPLETED, {"response_id": name}),),
            (unresolved,),
            (
                unresolved,
                says(Kind.MODEL_COMPLETED, {"response_id": name}),
            ),
        )
    for before, behind in permutations(_NAMED_ALIKE, 2):
        yield RUN, (*before, *behind)


def _calls(*calls: tuple[str, str]) -> tuple[Template, ...]:
    return tuple(says(kind, {"call_id": call}) for kind, call in calls)


_NAME = "c1"
_NAMED_ALIKE: Final = (
    # What has a name of its own, each time the same: there are as many sorts of names.
    (says(Kind.TEXT_DELTA, {"text": _NAME}, id=_NAME),),
    (says(Kind.MODEL_COMPLETED, {"response_id": _NAME}),),
    (says(Kind.MODEL_UNRESOLVED, {"response_id": _NAME, "reason": _NAME}),),
    _calls((REQUESTED, _NAME), (STARTED, _NAME), (FINISHED, _NAME)),
    _calls((REQUESTED, f"{RUN}:1"), (FAILED, f"{RUN}:1")),
    _calls((REQUESTED, RUN), (FINISHED, RUN)),
    (stray(lambda _run: _NAME, TEXT),),
    (unheard_of(_NAME, {}),),
)


def runs() -> Iterator[Stream]:
    """Runs bound to any name, and events of runs whose names are alike."""
    alike = (*look_alikes.ALIKE, *((name, f"{name}x") for name in look_alikes.NAMES))
    for one, other in alike:
        for bound, foreign in ((one, other), (other, one)):
            yield bound, (TEXT, stray(_named(foreign), TEXT), TEXT)
    others = (
        RUN.upper(), RUN.lower(), RUN.title(), f"{RUN} ", f" {RUN}", f"{RUN}\n", f"{RUN}\0",
        RUN[:-1], RUN[1:], RUN[:1], f"{RUN}:1", f"{RUN}/sub", f"x{RUN}", RUN.replace("-", "_"),
        *RUN.split("-"), f"{RUN}-", RUN * 2, RUN[::-1], "null", "*", "undefined", " ",
    )  # fmt: skip
    for other in others:
        yield RUN, (stray(_named(other), TEXT), TEXT)
        yield RUN, (SUCCEEDED, stray(_named(other), CHECKED))


def _named(run: str) -> Callable[[str], str]:
    return lambda _run: run


# Texts, and the digests of them.

_OVERLAPPING: Final = (
    # Each might be the whole text so far, or repeat some of it, but adds to it like any other.
    ("x", "xy", "xyz"), ("xyz", "xy", "x"), ("abc", "bcd"), ("abc", "b"), ("abc", "c"),
    ("ab", "ba"),
    ("x", "x", "x"), ("ab ", "ab"), ("ab", " ab"), ("ab", "\nab"), ("AB", "ab", "abab"),
)  # fmt: skip


def texts() -> Iterator[Stream]:
    """Texts that are trimmed, converted or taken for the end; and for more, or less, of another."""
    x = says(Kind.TEXT_DELTA, {"text": "x"})
    yield from streams(
        *((says(Kind.TEXT_DELTA, {"text": text}) for text in some) for some in _OVERLAPPING)
    )
    for text in (*look_alikes.TEXTS, *look_alikes.LONG_TEXTS):
        fragment = says(Kind.TEXT_DELTA, {"text": text})
        yield from streams(
            (x, fragment, x),
            (fragment, fragment),
            (fragment, EOF),
            (x, says(Kind.RUN_ENDED, {"outcome": "succeeded", "final_text": text}), CHECKED),
            (says(Kind.MODEL_UNRESOLVED, {"response_id": None, "reason": text}),),
            *(
                (x, says(Kind.RUN_ENDED, {"outcome": str(outcome), "final_text": text}))
                for outcome in Outcome
            ),
        )
    for state, outcome, text in product(_STATES, Outcome, ("", ODD_TEXT)):
        end = says(Kind.RUN_ENDED, {"outcome": str(outcome), "final_text": text})
        yield RUN, (BY_NAME[state], end)


_STATES: Final = ("requested c1", "approval wait", "cancel requested", "response unresolved")


def digests() -> Iterator[Stream]:
    """Checks that are bound to something else than the final text."""
    said = says(Kind.TEXT_DELTA, {"text": "x"})
    finals = (FINAL_TEXT, "", " a\u0301\r\n", "\xe9\ufb01", "\U0001f600", *look_alikes.LONG_TEXTS)
    for final_text in finals:
        ended = says(Kind.RUN_ENDED, {"outcome": "succeeded", "final_text": final_text})
        for name, digest in look_alikes.wrong_digests(final_text, "x"):
            for ok in (True, False):
                check = says(Kind.APP_CHECKED, {"digest": digest, "ok": ok})
                named = Template(f"check of a digest {name}", "kind", check.make)
                yield RUN, (said, ended, named)
    for text in ("", "x", FINAL_TEXT):
        check = says(Kind.APP_CHECKED, {"digest": digest_of(text), "ok": True})
        yield from streams((check,), (said, check), (said, EOF, check))
        for outcome, carried in product(Outcome, (text, None)):
            if outcome != Outcome.SUCCEEDED:
                end = says(Kind.RUN_ENDED, {"outcome": str(outcome), "final_text": carried})
                yield RUN, (said, end, check)
