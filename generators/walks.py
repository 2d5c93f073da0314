"""Random walks that begin where exploration has been: cheap traces, deep in the state space.

A walk takes a shortest way to some state of the declaration and goes on at random from there, so
that rare states are no rarer than others. Everything follows from the seed.
"""

from __future__ import annotations

from functools import cache
from random import Random

from doneness.generators.exploration import LAYERS, explore
from doneness.generators.moves import TEMPLATES, Template


@cache
def access_paths() -> tuple[tuple[Template, ...], ...]:
    """A shortest way to each state of the declared lifecycle with two calls."""
    return tuple(explore(None, LAYERS[0]).paths)


def walk(seed: int, length: int) -> list[Template]:
    """One walk: a way to some state, then `length` templates drawn at random."""
    random = Random(seed)  # noqa: S311 # reproducible, not secret
    groups = sorted({template.group for template in TEMPLATES})
    path = list(random.choice(access_paths()))
    for _ in range(length):
        # By group first: there are many bad payloads, and few ways to repeat an event.
        group = random.choice(groups)
        path.append(random.choice([one for one in TEMPLATES if one.group == group]))
    return path
