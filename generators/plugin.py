"""The pytest plugin: options under one heading, the subjects, and the table at the end.

Installed with the package, so a project of yours needs no copy of the tests:
`pytest --pyargs doneness.contract -m model --subject yours.module:factory`.

Tests hand their figures over as user properties, which travel from the workers of pytest-xdist
like the rest of a report.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import SystemRandom
from typing import Any, Final

import pytest
from hypothesis.database import ExampleDatabase

from doneness.generators.checks.properties import Breach
from doneness.generators.databases import DatabaseError, database_at
from doneness.generators.divergence import Divergence, first_in
from doneness.generators.reports.finding import Finding, finding_of
from doneness.generators.reports.page import page
from doneness.generators.reports.picture import path_picture
from doneness.generators.reports.sarif import sarif
from doneness.generators.subjects.options import GROUP, as_typed

FOLDER: Final = Path(".doneness")
"""Where a run leaves its coverage and its divergences, below the root of the project."""

EXAMPLES: Final = 300
PROPERTY: Final = "doneness"
FINDING: Final = "doneness-finding"

_COLUMNS: Final = (
    "layer",
    "subject",
    "states",
    "transitions",
    "pairs",
    "joint",
    "edges",
    "examples",
)

pytest_plugins = ("doneness.generators.subjects.plugin",)

_SEED: Final = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all under one heading."""
    group = parser.getgroup(*GROUP)
    group.addoption(
        "--model-seed",
        type=int,
        metavar="N",
        help="seed of all random choices of the model checks (default: a new one, printed)",
    )
    group.addoption(
        "--model-examples",
        type=int,
        default=EXAMPLES,
        metavar="N",
        help=f"examples per Hypothesis machine and subject (default: {EXAMPLES})",
    )
    group.addoption(
        "--model-database",
        metavar="PLACE",
        help="example database of the Hypothesis machines: a folder, or redis://HOST:PORT/N to "
        "share it (default: none)",
    )
    group.addoption("--model-called-by-check", action="store_true", help=argparse.SUPPRESS)
    group.addoption("--model-sarif", metavar="FILE", help="write the findings as SARIF, for CI")
    group.addoption(
        "--model-html", metavar="FILE", help="write the findings as one HTML page, for review"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; choose the seed once, for all workers."""
    config.addinivalue_line("markers", "model: checks a reducer against the declared contract")
    _require_fitting(config)
    chosen = config.getoption("--model-seed")
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        chosen = worker["doneness_seed"]
    config.stash[_SEED] = SystemRandom().randrange(2**32) if chosen is None else chosen


def _require_fitting(config: pytest.Config) -> None:
    """Say what cannot be done with the options before anything runs, not at the end."""
    examples = config.getoption("--model-examples")
    if examples < 1:
        raise pytest.UsageError(f"--model-examples: expected at least 1, got {examples}")
    for option in ("--model-sarif", "--model-html"):
        file = config.getoption(option)
        if file and not Path(file).parent.is_dir():
            raise pytest.UsageError(
                f"{option}: {file}: there is no folder {Path(file).parent} to write it to; make it"
            )
        if file and Path(file).is_dir():
            raise pytest.UsageError(f"{option}: {file}: expected a file, this is a folder")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give each worker of pytest-xdist the same seed."""
    node.workerinput["doneness_seed"] = node.config.stash[_SEED]


@pytest.fixture(scope="session")
def model_seed(pytestconfig: pytest.Config) -> int:
    """The seed of this run."""
    return pytestconfig.stash[_SEED]


@pytest.fixture(scope="session")
def model_examples(pytestconfig: pytest.Config) -> int:
    """How many examples each Hypothesis machine tries."""
    examples: int = pytestconfig.getoption("--model-examples")
    return examples


@pytest.fixture(scope="session")
def model_database(pytestconfig: pytest.Config) -> ExampleDatabase | None:
    """The example database that was named."""
    try:
        return database_at(pytestconfig.getoption("--model-database"))
    except DatabaseError as error:
        raise pytest.UsageError(f"--model-database: {error}") from None


@pytest.fixture
def model_row(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """A row of the table at the end; the test fills it in."""
    row: dict[str, Any] = {}
    started = time.perf_counter()
    yield row
    row["seconds"] = time.perf_counter() - started
    request.node.user_properties.append((PROPERTY, row))


@pytest.fixture
def keeps_contract(
    pytestconfig: pytest.Config, request: pytest.FixtureRequest
) -> Callable[..., None]:
    """Fail on a divergence: show it, write it as a case, and say what to do with it."""

    def check(divergence: Divergence | None) -> None:
        if divergence is None:
            return
        lines = [
            f"{divergence.subject} leaves the contract ({divergence.check}):",
            divergence.table(),
        ]
        file, said = _written(pytestconfig, divergence)
        request.node.user_properties.append((FINDING, finding_of(divergence, file).plain()))
        pytest.fail("\n".join([*lines, *said]), pytrace=False)

    return check


def _written(config: pytest.Config, divergence: Divergence) -> tuple[str | None, list[str]]:
    """The case file of a divergence, and what to do with it; None where there cannot be one."""
    path = divergence.write(config.rootpath / FOLDER / "divergences")
    if path is None:
        return None, ["It cannot be written as a case: an event has no JSON form."]
    file = path.relative_to(config.rootpath).as_posix()
    options = [
        option
        for option in as_typed(config.getoption)
        if option.startswith(("--subject=", "--status-map="))
    ]
    return file, [
        f"written to   {file}",
        f"run it alone {' '.join([f'doneness fixture run {file}', *options])}",
        f"keep it      doneness fixture keep {file} --reason '…'",
    ]


@pytest.fixture
def keeps_property(
    pytestconfig: pytest.Config,
    request: pytest.FixtureRequest,
) -> Callable[[str, str, Breach | None], None]:
    """Fail on a breach of a named property, with the story that led there."""

    def check(rule: str, subject: str, breach: Breach | None) -> None:
        if breach is None:
            return
        story = breach.story
        steps = story.upto(breach.index)
        left = first_in(subject, f"property {rule}", story.run, story.moves, story.shown)
        # A property may be broken where each stream by itself is as declared.
        file, said = (None, []) if left is None else _written(pytestconfig, left)
        case = left.case() if left is not None and file else None
        found = Finding(rule, f"property {rule}", subject, breach.reason, steps, case, file)
        request.node.user_properties.append((FINDING, found.plain()))
        reason = f"{subject} breaks {rule}: {breach.reason}"
        pytest.fail("\n".join([reason, steps, *said]), pytrace=False)

    return check


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect the rows; reports come here from every worker."""
    if report.when == "teardown":
        for name, value in report.user_properties:
            if name in _collected:
                _collected[name].append(value)


_collected: dict[str, list[Any]] = {PROPERTY: [], FINDING: []}


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what was exercised, of all there is, and how to repeat it."""
    _write_reports(config)
    rows = [row for row in _collected[PROPERTY] if "layer" in row]
    if not rows:
        return
    terminalreporter.section("doneness: what was exercised, of all there is")
    table = [(*_COLUMNS, "seconds")] + [
        (*(str(row.get(column, "")) for column in _COLUMNS), f"{row['seconds']:.1f}")
        for row in _gathered(rows)
    ]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        terminalreporter.write_line("  ".join(cells).rstrip())
    for claim in dict.fromkeys(f"{row['layer']}: {row['claim']}" for row in rows if "claim" in row):
        terminalreporter.write_line(f"same state in {claim}")
    terminalreporter.write_line(f"repeat with: {_repeat(config)}")
    write_coverage(config.rootpath / FOLDER / "coverage.json", rows)


def _gathered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with those of the named properties together, one line a subject."""
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        part, _, name = row["layer"].partition("/")
        if part != "property":
            lines[row["layer"], row["subject"]] = row
            continue
        line = lines.setdefault(
            (part, row["subject"]), {**row, "layer": "properties", "seconds": 0.0}
        )
        line["layer"] += f" {name.split(',')[0]}" if name.split(",")[0] not in line["layer"] else ""
        line["seconds"] += row["seconds"]
    return list(lines.values())


def _repeat(config: pytest.Config) -> str:
    """The command that runs the same again, as it was called: by its name, with its options."""
    typed = as_typed(config.getoption)
    seed, examples = config.stash[_SEED], config.getoption("--model-examples")
    if config.getoption("--model-called-by-check"):
        options = [*typed, f"--seed {seed}"]
        options += [f"--examples {examples}"] * (examples != EXAMPLES)
        return " ".join(["doneness check", *options])
    where = ["--pyargs doneness.contract"] * ("doneness.contract" in config.args)
    options = [*typed, f"--model-seed {seed}"]
    options += [f"--model-examples {examples}"] * (examples != EXAMPLES)
    return " ".join(["pytest", *where, "-m model", *options])


def _write_reports(config: pytest.Config) -> None:
    findings = [Finding(**one) for one in _collected[FINDING]]
    to_sarif, to_html = config.getoption("--model-sarif"), config.getoption("--model-html")
    if to_sarif:
        Path(to_sarif).write_text(json.dumps(sarif(findings), indent=1) + "\n", "utf-8")
    if to_html:
        html = page(findings, repeat=_repeat(config), picture=path_picture)
        Path(to_html).write_text(html, "utf-8")


def write_coverage(path: Path, rows: list[dict[str, Any]]) -> None:
    """Leave how often each pair was exercised, for the diagrams: `{declaration: {pair: count}}`."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        for declaration, pairs in row.get("coverage", {}).items():
            counts.setdefault(declaration, Counter()).update(pairs)
    if counts:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n", "utf-8")
