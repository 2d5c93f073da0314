"""Hypothesis machines: concrete data from every corner, on one run and on a board of many.

Rules only decide what happens; the whole trace runs through the subject once, at the end, and
each step is compared. So a machine works for a subject in another process as well. What is found is
shortened event by event, since Hypothesis' own shrinking may take minutes. The start is an access
path of the declaration, chosen in `initialize`: swarm testing may switch a rule off for a whole
example, but not that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Final

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from doneness.generators import strategies as draws
from doneness.generators.checks.shortening import shortest
from doneness.generators.divergence import Divergence, DivergenceError, compare
from doneness.generators.moves import play
from doneness.generators.oracle import Move, Oracle
from doneness.generators.subject import Subject
from doneness.generators.walks import access_paths

STEPS: Final = 12

_Sort = Callable[[Oracle], "st.SearchStrategy[Move | None]"]

ONE_RUN: Final = "a run"

_NONSENSE: Final = (draws.bad_payloads, draws.unknown_kinds)
_TRANSPORT: Final = (draws.repeats, draws.out_of_order, draws.foreign)
_BREAKS: Final = (draws.malformed, draws.not_json, draws.ends)
_ON_A_BOARD: Final = (
    draws.admitted,
    draws.from_templates,
    draws.repeats,
    draws.out_of_order,
    draws.malformed,
)


class OneRun(RuleBasedStateMachine):
    """One run, any data."""

    subject: ClassVar[Subject]
    fired: ClassVar[Counter[str]]
    found: ClassVar[list[Divergence]]

    def __init__(self) -> None:
        super().__init__()
        self.oracle = Oracle(ONE_RUN)
        self.moves: list[Move] = []

    def take(self, data: st.DataObject, sort: _Sort) -> None:
        """Draw a move of a sort and let the oracle take it."""
        move = data.draw(sort(self.oracle))
        if move is not None and self.subject.takes(move):
            self.oracle.take(move)
            self.moves.append(move)
            self.fired[sort.__name__] += 1

    @initialize(start=st.integers(0, 10**6))
    def begin(self, start: int) -> None:
        """Take a shortest way to some state of the declaration."""
        paths = access_paths()
        self.moves += play(self.oracle, paths[start % len(paths)], self.subject.takes)

    @rule(data=st.data())
    def goes_on(self, data: st.DataObject) -> None:
        """The next event, good in form."""
        self.take(data, draws.admitted)

    @rule(data=st.data(), sort=st.sampled_from(_NONSENSE))
    def says_nonsense(self, data: st.DataObject, sort: _Sort) -> None:
        """The next event, with a payload or a kind that the contract does not have."""
        self.take(data, sort)

    @rule(data=st.data(), sort=st.sampled_from(_TRANSPORT))
    def is_transported_badly(self, data: st.DataObject, sort: _Sort) -> None:
        """An event again, out of order, or of another run."""
        self.take(data, sort)

    @rule(data=st.data(), sort=st.sampled_from(_BREAKS))
    def breaks(self, data: st.DataObject, sort: _Sort) -> None:
        """No envelope, no JSON, or the end of the connection."""
        self.take(data, sort)

    @rule(data=st.data())
    def plays_a_letter(self, data: st.DataObject) -> None:
        """Any letter of the alphabet that exploration uses."""
        self.take(data, draws.from_templates)

    def teardown(self) -> None:
        """Run the trace and compare every step."""
        _compare(type(self), "random data, one run", ONE_RUN, self.moves)


class Board(RuleBasedStateMachine):
    """Many runs interleaved, each reducer is fed everything."""

    subject: ClassVar[Subject]
    fired: ClassVar[Counter[str]]
    found: ClassVar[list[Divergence]]
    runs: ClassVar[tuple[str, ...]] = ("a", "a:1", "运行")

    def __init__(self) -> None:
        super().__init__()
        self.oracles = {run: Oracle(run) for run in self.runs}
        self.moves: dict[str, list[Move]] = {run: [] for run in self.runs}

    @rule(
        data=st.data(),
        run=st.sampled_from(runs),
        sort=st.sampled_from(_ON_A_BOARD),
    )
    def happens(self, data: st.DataObject, run: str, sort: _Sort) -> None:
        """Something happens in one run, and everybody hears of it."""
        move = data.draw(sort(self.oracles[run]))
        if move is None or not self.subject.takes(move):
            return
        self.fired[sort.__name__] += 1
        own = isinstance(move.event, dict) and move.event.get("run") == run
        for other, oracle in self.oracles.items():
            if other == run:
                seen = move
            elif move.event is None:
                continue
            elif own or move.caught == "not_an_envelope":
                seen = draws.seen_by_another(move)
            else:
                continue  # a stray of a third run: it may be this one's
            oracle.take(seen)
            self.moves[other].append(seen)

    def teardown(self) -> None:
        """Run every reducer's trace and compare every step."""
        for run, moves in self.moves.items():
            _compare(type(self), "random data, many runs", run, moves)


def _compare(machine: type[OneRun | Board], check: str, run: str, moves: list[Move]) -> None:
    found = compare(machine.subject, check, run, moves)
    if found is not None:
        machine.found.append(found)
        raise DivergenceError(found)


SORTS: Final[dict[type[Any], tuple[_Sort, ...]]] = {
    OneRun: (draws.admitted, *_NONSENSE, *_TRANSPORT, *_BREAKS, draws.from_templates),
    Board: _ON_A_BOARD,
}
"""What each machine can make happen."""

MACHINES: Final = (OneRun, Board)


def run_machine(
    machine: type[OneRun | Board],
    subject: Subject,
    *,
    seed_value: int,
    examples: int,
    database: ExampleDatabase | None = None,
) -> tuple[Counter[str], Divergence | None]:
    """Run a machine on a subject; what fired, and the shrunk divergence, if there is one.

    With a database, examples that failed before are tried first, also those that another process
    or machine found; it is a cache, the cases that are kept are the truth.
    """
    fired: Counter[str] = Counter()
    found: list[Divergence] = []
    bound = type(machine.__name__, (machine,), {"subject": subject, "fired": fired, "found": found})
    try:
        run_state_machine_as_test(
            seed(seed_value)(bound),
            settings=settings(
                max_examples=examples,
                stateful_step_count=STEPS,
                deadline=None,
                database=database,
                phases=[Phase.reuse, Phase.generate],
                suppress_health_check=list(HealthCheck),
                print_blob=False,
                report_multiple_bugs=False,
            ),
        )
    except (DivergenceError, Flaky):  # flaky: it does not fail again, but it did
        return fired, shortest(subject, found[-1])
    return fired, None
