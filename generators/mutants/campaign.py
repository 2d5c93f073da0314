"""A campaign: mutants judged by several processes, and the report of what became of them."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Final

from doneness.generators.mutants.judging import (
    EVENTS_MAX,
    Verdict,
    judge,
    require_green_baseline,
)
from doneness.generators.mutants.loading import MODULES, PREFIX, source_of
from doneness.generators.mutants.sites import Mutant, mutants
from doneness.generators.mutants.table_judging import judge_table
from doneness.generators.mutants.tables import ADMISSION, DECLARED, TableMutant, table_mutants

TABLES: Final = "tables"
"""Stands for the declared tables where modules are named."""

LISTED_EVERY: Final = 50
"""One in so many changes of a sample is one that is said to be equivalent."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant and what became of it."""

    key: str
    operator: str
    line: int
    verdict: Verdict


@dataclass(frozen=True)
class Report:
    """What came of a campaign.

    Attributes:
        equivalent: The reasons of those that were shown equivalent, by key.
        stale: Entries that say so of a mutant which was killed, or does not exist any more.
    """

    judged: tuple[Judged, ...]
    equivalent: Mapping[str, str]
    stale: tuple[str, ...]

    @property
    def survivors(self) -> list[Judged]:
        """Those that nothing noticed and nobody showed equivalent; the timed out ones too."""
        return [
            one
            for one in self.judged
            if one.verdict.outcome in ("survived", "timed out") and one.key not in self.equivalent
        ]

    @property
    def long(self) -> list[Judged]:
        """Those whose shrunk stream has more events than it should."""
        return [one for one in self.judged if (one.verdict.events or 0) > EVENTS_MAX]

    def outcome(self, one: Judged) -> str:
        """What became of one, in a word."""
        survived = one.verdict.outcome == "survived"
        return "equivalent" if survived and one.key in self.equivalent else one.verdict.outcome

    def lines(self) -> Iterator[str]:
        """The report for people."""
        by_operator: dict[str, Counter[str]] = {}
        for one in self.judged:
            by_operator.setdefault(one.operator, Counter())[self.outcome(one)] += 1
        yield _row("operator", "mutants", *_OUTCOMES)
        for operator, count in sorted(by_operator.items()):
            yield _row(operator, sum(count.values()), *(count[name] for name in _OUTCOMES))
        total = sum(by_operator.values(), Counter())
        yield _row("all", sum(total.values()), *(total[name] for name in _OUTCOMES))
        yield ""
        killers = Counter(
            one.verdict.check for one in self.judged if one.verdict.outcome == "killed"
        )
        yield "killed by: " + ", ".join(f"{name} {count}" for name, count in killers.most_common())
        events = Counter(one.verdict.events for one in self.judged if one.verdict.events)
        shown = ", ".join(f"{number}: {count}" for number, count in sorted(events.items()))
        yield f"events of the stream: {shown}"
        reasons = Counter(
            self.equivalent[one.key] for one in self.judged if self.outcome(one) == "equivalent"
        )
        for reason, number in reasons.items():
            yield f"equivalent, {number}: {reason}"
        for one in self.survivors:
            yield f"{one.verdict.outcome}, line {one.line}: {one.key}"
        for one in self.long:
            yield f"needs {one.verdict.events} events: {one.key}"
        for key in self.stale:
            yield f"stale entry in equivalent.json: {key}"


_OUTCOMES: Final = ("killed", "endless", "equivalent", "survived", "timed out")


def _row(*cells: object) -> str:
    first, *rest = map(str, cells)
    return first.ljust(12) + "".join(cell.rjust(12) for cell in rest)


def run(
    modules: Sequence[str] = (*MODULES, TABLES),
    *,
    sample: int | None = None,
    seed: int = 0,
    jobs: int = 2,
    done: Callable[[int, int], None] = lambda _done, _all: None,
) -> Report:
    """Judge every mutant of some modules, or a sample.

    Args:
        modules: Which; `TABLES` for the declared tables.
        sample: How many changes of code are judged; of the tables always all. Some of those that
            are said to be equivalent are among them, in proportion but few: they cost the most.
        seed: What decides which.
        jobs: Processes.
        done: Told how many of how many are judged.

    Raises:
        RedBaselineError: the machine as it is fails a check.
    """
    require_green_baseline()
    every = _everything(tuple(modules))
    known = equivalents()
    places = list(range(len(every)))
    if sample is not None:
        places = sampled(every, known, sample, seed)
    judged = []
    context = multiprocessing.get_context("fork")  # the recordings are shared, not made again
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin, initargs=(tuple(modules),)
    ) as pool:
        for one in pool.map(_judged, places, chunksize=8):
            judged.append(one)
            done(len(judged), len(places))
    outcomes = dict.fromkeys((one.key for one in every), "survived")
    outcomes |= {one.key: one.verdict.outcome for one in judged}
    named = tuple(f"{name}:" for module in modules for name in _named(module))
    stale = (key for key in known if key.startswith(named) and outcomes.get(key) != "survived")
    return Report(tuple(judged), known, tuple(stale))


def sampled(
    every: Sequence[Mutant | TableMutant], known: Mapping[str, str], sample: int, seed: int
) -> list[int]:
    """The places of all changes of tables and of some of the code, in order."""
    code = [place for place, one in enumerate(every) if isinstance(one, Mutant)]
    listed = [place for place in code if every[place].key in known]
    others = [place for place in code if every[place].key not in known]
    random = Random(seed)  # noqa: S311 # repeatable, not secret
    few = min(len(listed), sample // LISTED_EVERY)
    chosen = {
        *random.sample(listed, few),
        *random.sample(others, min(len(others), sample - few)),
        *(set(range(len(every))) - set(code)),
    }
    return sorted(chosen)


def equivalents() -> dict[str, str]:
    """The mutants that no stream can tell from the machine, each with the reason."""
    text = (files("doneness.generators.mutants") / "equivalent.json").read_text("utf-8")
    return {key: entry["reason"] for entry in json.loads(text) for key in entry["mutants"]}


def _named(module: str) -> tuple[str, ...]:
    """What the keys of the module's mutants begin with."""
    if module == TABLES:
        return tuple(f"spec.{table}" for table in (*DECLARED, ADMISSION))
    return (PREFIX.removeprefix("doneness.") + module,)


@cache
def _everything(modules: tuple[str, ...]) -> list[Mutant | TableMutant]:
    found: list[Mutant | TableMutant] = []
    for module in modules:
        found += (
            table_mutants() if module == TABLES else mutants(PREFIX + module, source_of(module))
        )
    return found


_chosen: list[Mutant | TableMutant] = []


def _begin(modules: tuple[str, ...]) -> None:
    _chosen[:] = _everything(modules)


def _judged(place: int) -> Judged:
    mutant = _chosen[place]
    if isinstance(mutant, Mutant):
        return Judged(mutant.key, mutant.operator, mutant.line, judge(mutant))
    events = judge_table(mutant)
    verdict = Verdict("survived") if events is None else Verdict("killed", "exploration", events)
    return Judged(mutant.key, f"{mutant.table}/{mutant.operator}", 0, verdict)
