"""The part of the pytest plugin that is about subjects: whose reducer, and what is known of it.

Subjects are opened once, when pytest is configured, and ended with it. What is known to fail is
marked so as pytest does it itself: an expected failure that does not come is a failure.

Each report of a check carries what the controller needs at the end: the name of the check, what
was left out, and whether an expected failure was met. So all of it works under pytest-xdist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from doneness.generators.haste import FAILED_SECONDS, SLOW_SECONDS, Haste
from doneness.generators.subject import Subject, own_subjects
from doneness.generators.subjects.adapted import Adapted
from doneness.generators.subjects.framing import FramingSubject, PythonDecoder
from doneness.generators.subjects.opening import SubjectError, open_framing, open_subject
from doneness.generators.subjects.options import (
    GROUP,
    ExpectedFailures,
    OptionError,
    read_expected_failures,
    read_statuses,
    supported_kinds,
)
from doneness.machine import SSEDecoder

CHECK: Final = "doneness-check"
LEFT_OUT: Final = "doneness-left-out"

_FIXTURES: Final = {"--subject": "model_subject", "--framing-subject": "framing_subject"}

_REDUCERS: Final = pytest.StashKey[list[Subject]]()
_DECODERS: Final = pytest.StashKey[list[FramingSubject]]()
_EXPECTED: Final = pytest.StashKey[ExpectedFailures]()
_GUILTY: Final = pytest.StashKey[set[str]]()
_SLOW: Final = pytest.StashKey[set[str]]()
_FIRST: Final = -1
"""The place of the check that finds out who is slow; short streams are tried on those, too."""
_SLOW_PLACE_MAX: Final = 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, under the heading of all others."""
    group = parser.getgroup(*GROUP)
    group.addoption(
        "--subject",
        action="append",
        default=[],
        metavar="SPEC",
        help="check this reducer instead of the project's own: package.module:factory, or "
        "exec:COMMAND for a program that speaks the protocol (docs/protocol.md); may be repeated",
    )
    group.addoption(
        "--framing-subject",
        action="append",
        default=[],
        metavar="SPEC",
        help="check this SSE decoder instead of the project's own, named in the same way",
    )
    group.addoption(
        "--status-map",
        metavar="FILE",
        help="a JSON object from the subject's own names for its statuses to the contract's",
    )
    group.addoption(
        "--supports",
        metavar="KINDS",
        help="the kinds that the subject knows, separated by commas, or those that it lacks, each "
        "with a minus: --supports=-approval.wait (default: all of the contract's)",
    )
    group.addoption(
        "--expect-failures",
        metavar="FILE",
        help="a JSON object from checks that are known to fail to the reason; one that does not "
        "fail is a failure",
    )
    group.addoption(
        "--subject-deadline",
        type=float,
        default=4.0,
        metavar="SECONDS",
        help="how long a subject may take to answer (default: 4)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Open the subjects; whatever is wrong with the options is said before anything runs."""
    option = config.getoption
    expected = ExpectedFailures({})
    statuses = kinds = None
    if option("--expect-failures"):
        with _usage("--expect-failures"):
            expected = ExpectedFailures(read_expected_failures(Path(option("--expect-failures"))))
    if option("--status-map"):
        with _usage("--status-map"):
            statuses = read_statuses(Path(option("--status-map")))
    if option("--supports"):
        with _usage("--supports"):
            kinds = supported_kinds(option("--supports"))
    seconds = option("--subject-deadline")
    if not seconds > 0:
        raise pytest.UsageError(f"--subject-deadline: expected seconds > 0, got {seconds:g}")
    config.addinivalue_line(
        "markers", "late(place, what): comes late, and not at all where a subject failed before"
    )
    config.stash[_EXPECTED] = expected
    config.stash[_GUILTY] = set()
    config.stash[_SLOW] = set()
    config.pluginmanager.register(Summary(config, expected))
    if config.option.help:
        return
    reducers: list[Subject] = config.stash.setdefault(_REDUCERS, [])
    decoders: list[FramingSubject] = config.stash.setdefault(_DECODERS, [])
    with _usage("--subject"):
        for spec in option("--subject"):
            subject = open_subject(spec, statuses=statuses, kinds=kinds, answer_seconds=seconds)
            reducers.append(subject)  # one by one, so that it is ended if the next cannot be opened
    with _usage("--framing-subject"):
        for spec in option("--framing-subject"):
            decoder = open_framing(spec, answer_seconds=seconds)
            decoders.append(decoder)
    distributes = getattr(config.option, "dist", "no") != "no"
    if distributes and not hasattr(config, "workerinput"):
        pytest_unconfigure(config)  # a controller of pytest-xdist runs no check itself
        return
    reducers += () if reducers else own_subjects()
    decoders += () if decoders else [PythonDecoder("doneness.machine:SSEDecoder", SSEDecoder)]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the subjects."""
    for subject in (*config.stash.get(_REDUCERS, ()), *config.stash.get(_DECODERS, ())):
        subject.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each check on each subject."""
    reducers = metafunc.config.stash[_REDUCERS]
    decoders = metafunc.config.stash[_DECODERS]
    _parametrize(metafunc, "model_subject", reducers)
    _parametrize(metafunc, "framing_subject", decoders)


def _parametrize(
    metafunc: pytest.Metafunc, fixture: str, subjects: Sequence[Subject | FramingSubject]
) -> None:
    if fixture in metafunc.fixturenames:
        names = [one.name for one in subjects]
        metafunc.parametrize(fixture, subjects, ids=names, scope="session")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With a subject named, leave out the checks that are about something else."""
    wanted = {fixture for option, fixture in _FIXTURES.items() if config.getoption(option)}
    if not wanted:
        return

    def is_wanted(item: pytest.Item) -> bool:
        about = set(getattr(item, "fixturenames", ()))
        return item.get_closest_marker("model") is None or bool(wanted & about)

    others = [item for item in items if not is_wanted(item)]
    items[:] = sorted((item for item in items if is_wanted(item)), key=_lateness)
    config.hook.pytest_deselected(items=others)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what takes long where a short stream has been found already.

    It would find the same faults again, in longer streams, and a hostile object may take several
    deadlines.
    """
    marker = item.get_closest_marker("late")
    if item.config.getoption("--subject") and marker is not None:
        place, what = marker.args
        subject = _subject_of(item)
        slow = subject in item.config.stash[_SLOW] and place > _SLOW_PLACE_MAX
        if slow or subject in item.config.stash[_GUILTY]:
            pytest.skip(f"left out: {what}, since {subject} has failed already")


@pytest.fixture(scope="session")
def haste_of(pytestconfig: pytest.Config) -> Callable[[Subject], Haste]:
    """The time for a check of a subject: there is little for one that has failed already."""

    def haste(subject: Subject) -> Haste:
        if subject.name in pytestconfig.stash[_SLOW]:
            return Haste(SLOW_SECONDS)
        return Haste(FAILED_SECONDS if subject.name in pytestconfig.stash[_GUILTY] else None)

    return haste


@pytest.fixture
def model_haste(haste_of: Callable[[Subject], Haste], model_subject: Subject) -> Haste:
    """The time for this check."""
    return haste_of(model_subject)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say in the report which check this was, and turn expected failures around."""
    report = yield
    left_out = call.when == "setup" and report.outcome == "skipped"
    if item.get_closest_marker("model") is None or not (call.when == "call" or left_out):
        return report
    names = _names(item)
    report.user_properties += [(CHECK, name) for name in names]
    arguments = getattr(item, "funcargs", {})
    subject = arguments.get("model_subject")
    if isinstance(subject, Adapted):
        report.user_properties.append((LEFT_OUT, dict(subject.left_out)))
        subject.left_out.clear()
    expected = item.config.stash[_EXPECTED]
    reason = expected.reason(names)
    if reason is not None and report.outcome == "failed":
        report.outcome = "skipped"
        report.wasxfail = f"expected: {reason}"
    elif reason is not None and report.outcome == "passed":
        report.outcome = "failed"
        report.longrepr = f"stale: listed in --expect-failures ({reason}), and it does not fail"
    if report.outcome == "failed" and (name := _subject_of(item)) is not None:
        item.config.stash[_SLOW if _lateness(item) == _FIRST else _GUILTY].add(name)
    return report


class Summary:
    """Gathers what the reports carry, from every worker, and says what was not checked."""

    def __init__(self, config: pytest.Config, expected: ExpectedFailures) -> None:
        self._config = config
        self._listed = set(expected.reasons)
        self._checks: set[str] = set()
        self._left_out: Counter[str] = Counter()
        self._skipped: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in one report."""
        carried: list[tuple[str, Any]] = report.user_properties
        names = {value for key, value in carried if key == CHECK}
        if report.when == "teardown" or not names:
            return
        self._checks |= names
        for key, value in carried:
            if key == LEFT_OUT:
                self._left_out.update(value)
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ").removeprefix("left out: ")
            self._skipped[reason] = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Fail on what is listed as an expected failure and was no check at all."""
        good = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._unheard_of() and session.exitstatus in good:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        yield

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out, and what is stale."""
        lines = [
            f"left out: {reason} ({count:,} events)" for reason, count in self._left_out.items()
        ]
        lines += [f"left out: {reason}" for reason in self._skipped]
        stale = [
            f"stale: {name!r} is listed in --expect-failures, and no such check was run"
            for name in self._unheard_of()
        ]
        if lines or stale:
            terminalreporter.section("doneness: what was not checked")
            for line in lines + stale:
                terminalreporter.write_line(line, red=line in stale)

    def _unheard_of(self) -> list[str]:
        """Expected failures that name no check that was run; unknown where only a part was."""
        option = self._config.option
        if option.keyword or option.collectonly or hasattr(self._config, "workerinput"):
            return []
        return sorted(self._listed - self._checks)


def _lateness(item: pytest.Item) -> int:
    """How late a check comes: as its marker says, 0 without one."""
    marker = item.get_closest_marker("late")
    return 0 if marker is None else int(marker.args[0])


def _subject_of(item: pytest.Item) -> str | None:
    subject = _parameters(item).get("model_subject")
    return None if subject is None else subject.name


def _parameters(item: pytest.Item) -> dict[str, Any]:
    call = getattr(item, "callspec", None)
    return {} if call is None else call.params


def _names(item: pytest.Item) -> list[str]:
    """What a check is called: by its row in the table at the end, by its test, by its node."""
    row = getattr(item, "funcargs", {}).get("model_row") or {}
    test = getattr(item, "originalname", item.name)
    machine = _parameters(item).get("machine")
    layer = row.get("layer") or (machine and f"random data/{machine.__name__}")
    return [name for name in (layer, test, item.name, item.nodeid) if name]


@contextmanager
def _usage(option: str) -> Iterator[None]:
    """Say in one line, as pytest does, what is wrong with an option."""
    try:
        yield
    except (OptionError, SubjectError) as error:
        raise pytest.UsageError(f"{option}: {error}") from None
