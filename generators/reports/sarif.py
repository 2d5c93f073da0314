"""Findings as SARIF 2.1.0, the form in which code hosts take them from CI."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from doneness.generators.reports.finding import RULES, Finding


def sarif(findings: Iterable[Finding]) -> dict[str, Any]:
    """A SARIF log with one run; every rule is listed, whether broken or not."""
    places = {rule: index for index, rule in enumerate(RULES)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "doneness",
                        "version": version("doneness"),
                        "rules": [
                            {"id": rule, "shortDescription": {"text": text}}
                            for rule, text in RULES.items()
                        ],
                    }
                },
                "results": [_result(finding, places[finding.rule]) for finding in findings],
            }
        ],
    }


def _result(finding: Finding, place: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": "error",
        "message": {"text": f"{finding.subject}: {finding.message}\n{finding.details}"},
        "properties": {"check": finding.check},
    }
    if finding.file:
        location = {"artifactLocation": {"uri": finding.file}, "region": {"startLine": 1}}
        result["locations"] = [{"physicalLocation": location}]
    return result
