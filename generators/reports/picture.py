"""The path of a case on the lifecycle's picture, for the page; nothing where no dot is at hand."""

from __future__ import annotations

import json
from typing import Any

from doneness.diagrams import dot, path
from doneness.diagrams.engine import EngineFailedError, NoEngineError, picture
from doneness.diagrams.extract import charts
from doneness.diagrams.fold import fold
from doneness.diagrams.theme import LIGHT
from doneness.fixtures.cases import CaseError, cases_of


def path_picture(case: dict[str, Any]) -> str | None:
    """An SVG element, or None if the case or the machine does not allow one."""
    try:
        [loaded] = cases_of(json.dumps(case).encode(), str(case["name"]))
        chart, overlay = path.walked(charts()[path.MACHINE], loaded)
        source = dot.source([fold(chart, overlay)], LIGHT, hints=False)
        svg = picture(source, "svg").decode()
    except (CaseError, NoEngineError, EngineFailedError):
        return None
    return svg[svg.index("<svg") :]
