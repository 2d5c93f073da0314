"""Findings as one self-contained HTML page: the picture, and the two timelines side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any, Final

from doneness.generators.reports.finding import RULES, Finding

Picture = Callable[[dict[str, Any]], str | None]
"""Draws a case's path on the diagram, as SVG; None where nothing can be drawn."""

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8888; --bad: #b3261e; --good: #1b6e3c; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1100px; padding: 0 1rem }
section { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left }
td { vertical-align: top }
tr.differs td { background: color-mix(in srgb, var(--bad) 14%, transparent); font-weight: 600; }
tr.differs td:first-child::before { content: "▶ "; color: var(--bad); }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { overflow-x: auto; }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; }
.ok { color: var(--good); }
figure { background: #fff }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #7bd69b } }
"""


def page(findings: Iterable[Finding], *, repeat: str, picture: Picture) -> str:
    """The page; it loads nothing from anywhere.

    Args:
        findings: What to show, in order; what several checks found alike is shown once.
        repeat: The command that repeats the run.
        picture: Draws the path of a case.
    """
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        alike.setdefault((one.subject, one.rule, one.message, one.details), []).append(one)
    sections = [_section(number, some, picture) for number, some in enumerate(alike.values(), 1)]
    verdict = (
        f"<p><strong>{len(sections)} finding{'s' * (len(sections) != 1)}.</strong></p>"
        if sections
        else '<p class="ok"><strong>No divergence was found.</strong></p>'
    )
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>doneness: what was found</title><style>{_STYLE}</style></head><body><main>",
            "<h1>What was found</h1>",
            verdict,
            f"<p>Repeat with <code>{escape(repeat)}</code></p>",
            *sections,
            "</main></body></html>\n",
        ]
    )


def _section(number: int, alike: list[Finding], picture: Picture) -> str:
    finding = alike[0]
    checks = ", ".join(dict.fromkeys(one.check for one in alike))
    parts = [
        f"<section><h2>{number}. {escape(finding.rule)}: {escape(RULES[finding.rule])}</h2>",
        f"<p>{escape(finding.subject)}, found by {escape(checks)}.</p>",
        f"<p>{escape(finding.message)}</p>",
    ]
    if finding.case is None:
        parts.append(f"<pre>{escape(finding.details)}</pre>")
    else:
        drawn = picture(finding.case)
        if drawn:
            parts.append(f"<figure>{drawn}</figure>")
        parts.append(_timelines(finding.case))
    files = dict.fromkeys(one.file for one in alike if one.file)
    parts += [f"<p>The case: <code>{escape(file)}</code></p>" for file in files]
    return "\n".join([*parts, "</section>"])


def _timelines(case: dict[str, Any]) -> str:
    rows = []
    steps = zip(case["events"], case["expected_steps"], case["shown_steps"], strict=True)
    for number, (event, declared, shown) in enumerate(steps, 1):
        differs = ' class="differs"' if number == len(case["events"]) else ""
        rows.append(
            f"<tr{differs}><td>{number}</td><td>{_event(event)}</td>"
            f"<td>{escape(str(declared))}</td><td>{escape(str(shown))}</td></tr>"
        )
    head = "<tr><th>#</th><th>event</th><th>declared</th><th>shown</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _event(event: Any) -> str:
    if event is None:
        return "end of the connection"
    if isinstance(event, dict) and isinstance(event.get("data"), dict):
        members = ", ".join(f"{key}={value!r}" for key, value in event["data"].items())
        kind, place = str(event.get("kind")), f"{event.get('id')}, seq {event.get('seq')}"
        return (
            f"<code>{escape(kind)}</code> {escape(members[:200])}<br><small>{escape(place)}</small>"
        )
    return f"<code>{escape(repr(event)[:200])}</code>"
