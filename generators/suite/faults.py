"""Which seeded faults each family of tests finds.

The faults are those of `generators.mutants`: single changes of the modules that an event goes
through, and changed decisions of the declared tables, of which a reducer is made that is a faulty
machine. Found means that a test fails. What makes a loop endless is found by nobody.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from doneness.generators.mutants.campaign import equivalents
from doneness.generators.mutants.loading import PREFIX, loaded, source_of
from doneness.generators.mutants.sites import TURN, Mutant, mutants
from doneness.generators.mutants.tables import TableMutant, changed, table_mutants
from doneness.generators.suite.families import (
    FAMILIES,
    DeclaredReducer,
    Factory,
    Family,
    Feed,
    finds,
    finds_changed,
    prepared,
)
from doneness.machine import Progress

MODULES: Final = ("reducer", "payloads", "content")
"""What is fed as an object goes through these."""

ISSUE: Final = "issue"
"""Changes of an issue code alone. No suite can see them, to which all contradictions are one."""

Fault: TypeAlias = Mutant | TableMutant


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one fault.

    Attributes:
        group: Of which faults it is one: the module, or the table.
        found_by: The names of the families that find it.
        asked: The names of those that were asked.
    """

    key: str
    group: str
    found_by: frozenset[str]
    asked: frozenset[str]


def all_faults() -> Iterator[tuple[str, Fault]]:
    """Every fault with its group; not those that are shown to be equivalent."""
    known = equivalents()
    for module in MODULES:
        for mutant in mutants(PREFIX + module, source_of(module)):
            if mutant.key not in known:
                yield f"`{module}`", mutant
    for decision in table_mutants():
        if decision.operator != ISSUE and decision.key not in known:
            yield f"{decision.table} table", decision


def judge(group: str, fault: Fault, families: Iterable[Family] = FAMILIES) -> Judged:
    """Ask every family about a fault."""
    families = prepared(families)
    asked = frozenset(family.name for family in families)
    found_by: set[str] = set()
    with _made(fault) as is_found:
        for family in families:
            if family.contains in found_by or is_found(family):
                found_by.add(family.name)
    return Judged(fault.key, group, frozenset(found_by), asked)


@contextmanager
def _made(fault: Fault) -> Iterator[Callable[[Family], bool]]:
    """What says whether a family finds a fault."""
    if isinstance(fault, TableMutant):
        with changed(fault):
            yield lambda family: finds_changed(family, fault.decided)
        return
    turns = _Turns()
    factory: Factory
    with _loaded(fault, turns) as factory:

        def feed(reducer: Any, event: object) -> None:
            turns.left = turns.MAX
            reducer.feed(event)

        yield lambda family: _is_found(family, factory, feed)


@contextmanager
def _loaded(fault: Mutant, turns: _Turns) -> Iterator[Factory]:
    try:
        entered = loaded({fault.module.removeprefix(PREFIX): fault.code()}, **{TURN: turns})
        machine = entered.__enter__()
    except Exception as error:  # noqa: BLE001 # it cannot be imported: every test fails
        yield partial(_raise, error)
        return
    try:
        yield machine.reducer.Progress
    finally:
        entered.__exit__(None, None, None)


def _raise(error: Exception, _run: str) -> None:
    raise error


class _EndlessError(BaseException):  # no Exception: the machine catches those
    pass


class _Turns:
    """Called by each turn of a changed module's loops."""

    MAX: Final = 10_000

    def __init__(self) -> None:
        self.left = self.MAX

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _EndlessError


def _is_found(family: Family, factory: Factory, feed: Feed) -> bool:
    try:
        return finds(family, factory, feed)
    except _EndlessError:
        return False


def judge_all(
    families: Sequence[Family] = FAMILIES,
    *,
    every: int = 1,
    jobs: int = 1,
    largest: bool = False,
    done: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Judged]:
    """Judge every fault, or one in so many.

    Only where a table is changed is it known which tests that can touch, so only then, or if
    `largest`, are the large suites asked.

    Raises:
        ValueError: a family fails without a fault.
    """
    for family in prepared(families):
        if finds(family, Progress) or finds(family, DeclaredReducer):
            raise ValueError(f"{family.name}: fails without a fault; make it pass first")
    small = [family for family in families if not family.is_large]
    _work[:] = [
        (group, fault, families if largest or isinstance(fault, TableMutant) else small)
        for group, fault in list(all_faults())[::every]
    ]
    judged = []
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        for one in pool.map(_judged, range(len(_work)), chunksize=4):
            judged.append(one)
            done(len(judged), len(_work))
    return judged


_work: Final[list[tuple[str, Fault, Sequence[Family]]]] = []  # for the processes that are forked


def _judged(place: int) -> Judged:
    return judge(*_work[place])


def table(judged: Sequence[Judged], families: Sequence[Family] = FAMILIES) -> Iterator[str]:
    """How many faults of each group each family finds, in Markdown."""
    groups = list(dict.fromkeys(one.group for one in judged))
    totals = Counter(one.group for one in judged)
    yield _row("", *groups, "all")
    yield _row("---", *["---:"] * (len(groups) + 1))
    yield _row("seeded faults", *(totals[group] for group in groups), len(judged))
    for family in families:
        found = Counter(one.group for one in judged if family.name in one.found_by)
        missing = {one.group for one in judged if family.name not in one.asked}
        cells = ["–" if group in missing else found[group] for group in groups]
        yield _row(family.name, *cells, "–" if missing else found.total())
    found = Counter(one.group for one in judged if one.found_by)
    yield _row("all of these together", *(found[group] for group in groups), found.total())


def _row(first: str, *cells: object) -> str:
    shown = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells)
    return f"| {' | '.join((first, *shown))} |"
