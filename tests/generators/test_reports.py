"""A wrong reducer, seen by those who read reports: SARIF, JUnit and one page, from one run."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from doneness.generators.reports.finding import RULES, Finding
from doneness.generators.reports.page import page
from doneness.generators.reports.sarif import sarif

WRONG = """
from doneness.machine import Progress

class EofIsSuccess(Progress):
    @property
    def status(self):
        return "done" if self.closed and self.terminal is None else super().status
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reports of a run on a wrong reducer."""
    folder = tmp_path_factory.mktemp("reported")
    (folder / "mine.py").write_text(WRONG, "utf-8")
    program = "from doneness.machine.cli import main; main()"
    options = ["--subject", "mine:EofIsSuccess", "--examples", "10"]
    reports = ["--sarif", "found.sarif", "--html", "found.html", "--junit", "found.xml"]
    done = subprocess.run(
        [sys.executable, "-c", program, "check", *options, *reports],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return folder


def test_sarif_names_the_rules_and_the_cases(reported: Path) -> None:
    """Each result names a listed rule; a divergence leads to a case that was written."""
    [run] = json.loads((reported / "found.sarif").read_text("utf-8"))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    assert {"P1", "P5"} <= {result["ruleId"] for result in run["results"]}
    for result in run["results"]:
        assert list(RULES)[result["ruleIndex"]] == result["ruleId"]
        for location in result.get("locations", []):
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            case = json.loads((reported / uri).read_text("utf-8"))
            assert len(case["events"]) <= 6
            assert case["expected_steps"][-1] != case["shown_steps"][-1]


def test_junit_counts_the_failures(reported: Path) -> None:
    """A test a check, named after its property."""
    suite = next(iter(ET.parse(reported / "found.xml").getroot()))
    failed = {case.get("name", "") for case in suite if case.find("failure") is not None}
    assert int(suite.get("failures", "0")) == len(failed)
    assert any(name.startswith("test_p5_") for name in failed)


def test_the_page_stands_alone_and_shows_both_timelines(reported: Path) -> None:
    """Nothing is loaded from anywhere; the first difference is marked."""
    html = (reported / "found.html").read_text("utf-8")
    assert "EofIsSuccess" in html
    assert '<tr class="differs">' in html
    assert "<script" not in html
    assert "src=" not in html
    assert "url(" not in html


def test_the_page_shows_what_an_event_says_and_never_obeys_it() -> None:
    """Text of a run is text on the page."""
    evil = "<img src=x onerror=alert(1)>"
    event = {"run": "r", "id": evil, "seq": 1, "kind": evil, "data": {evil: evil}}
    case = {"events": [event], "expected_steps": ["running"], "shown_steps": [evil]}
    found = Finding("P1", evil, evil, evil, evil, case, evil)
    html = page([found], repeat=evil, picture=lambda _case: None)
    assert "<img" not in html
    assert sarif([found])["runs"][0]["results"][0]["ruleId"] == "P1"


def test_a_run_without_findings_says_so() -> None:
    """The page is not empty when all is well."""
    assert "No divergence was found" in page([], repeat="", picture=lambda _case: None)


def test_what_several_checks_find_alike_is_shown_once():
    """With all their names and cases."""
    found = [
        Finding("P1", check, "one", "after text: …", "the table", None, f"{check}.json")
        for check in ("lifecycle", "payloads")
    ]
    other = Finding("P1", "numbers", "another", "after text: …", "the table")
    html = page([*found, other], repeat="", picture=lambda _case: None)
    assert html.count("<section>") == 2
    assert "2 findings." in html
    assert "found by lifecycle, payloads." in html
    assert "<code>lifecycle.json</code>" in html
    assert "<code>payloads.json</code>" in html
