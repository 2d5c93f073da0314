"""`doneness check`: every check of the contract, against a reducer or decoder of somebody's own.

It is `pytest --pyargs doneness.contract -m model` with the options passed on, so there is one set
of checks and one way that they report; only what a project's own pytest is configured to do is
kept out.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import click
import pytest

_STATUS: Final = {
    pytest.ExitCode.OK: 0,
    pytest.ExitCode.TESTS_FAILED: 1,
    pytest.ExitCode.USAGE_ERROR: 2,
}
_OTHERWISE: Final = 3

_PASSED_ON: Final = {
    "status_map": "--status-map",
    "supports": "--supports",
    "expect_failures": "--expect-failures",
    "deadline": "--subject-deadline",
    "seed": "--model-seed",
    "examples": "--model-examples",
    "junit": "--junit-xml",
    "sarif": "--model-sarif",
    "html": "--model-html",
}

_FILE: Final = click.Path(dir_okay=False)


@click.command()
@click.option(
    "--subject",
    "subjects",
    metavar="SPEC",
    multiple=True,
    help="A reducer: package.module:factory, or 'exec:COMMAND …'.",
)
@click.option(
    "--framing-subject",
    "decoders",
    metavar="SPEC",
    multiple=True,
    help="An SSE decoder, named in the same way.",
)
@click.option("--status-map", type=_FILE, help="JSON: the subject's own status names to ours.")
@click.option(
    "--supports", metavar="KINDS", help="Kinds that it knows, or -KIND for each it lacks."
)
@click.option("--expect-failures", type=_FILE, help="JSON: checks known to fail, to the reason.")
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For each answer; default 4.",
)
@click.option("--seed", type=int, help="Of all random choices; printed at the end.")
@click.option("--examples", type=click.IntRange(min=1), help="Per Hypothesis machine.")
@click.option("--junit", type=_FILE, help="Write JUnit XML.")
@click.option("--sarif", type=_FILE, help="Write the findings as SARIF.")
@click.option("--html", type=_FILE, help="Write the findings as one HTML page.")
def command(
    subjects: tuple[str, ...], decoders: tuple[str, ...], **options: str | float | None
) -> None:
    """Check a reducer or an SSE decoder against the contract.

    Without a subject the project's own are checked. A failure shows the shortest stream that was
    found, event by event, and writes it as a case below .doneness.

    Exit status: 0; 1 if a check failed; 2 if the options or the subject cannot be used.
    """
    arguments = ["--pyargs", "doneness.contract", "-m", "model", "--import-mode=importlib"]
    arguments += ["-c", os.devnull, "--rootdir", str(Path.cwd()), "-p", "no:cacheprovider"]
    arguments += ["--tb=short", "-q", "--model-called-by-check"]
    arguments += [f"--subject={spec}" for spec in subjects]
    arguments += [f"--framing-subject={spec}" for spec in decoders]
    for name, value in options.items():
        if value is not None:
            arguments.append(f"{_PASSED_ON[name]}={value}")
    sys.exit(_STATUS.get(pytest.ExitCode(pytest.main(arguments)), _OTHERWISE))
