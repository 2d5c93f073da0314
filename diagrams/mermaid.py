"""Mermaid sources: pictures that GitHub draws from text, without any program.

The same drawing as DOT, in the words of `stateDiagram-v2`. Mermaid has no double borders: a state
where the machine may rest has an arrow to the end instead.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Sequence

from doneness.diagrams.drawing import Drawing, Edge, Mark, Node, Shape
from doneness.diagrams.words import wrapped

CHARACTERS_MAX = 34
LEGEND_CHARACTERS_MAX = 70
FINAL = "An arrow to the end: the machine may rest there for good."
STYLES = (
    "classDef good stroke-width:3px,font-weight:bold",
    "classDef any stroke-dasharray:5 4",
    "classDef marked stroke-width:3px",
    "classDef legend fill:none,stroke:none",
)


def source(drawings: Sequence[Drawing]) -> str:
    """One Mermaid state diagram of one or more drawings."""
    title = " · ".join(drawing.title for drawing in drawings)
    lines = [
        "---",
        f"title: {json.dumps(title, ensure_ascii=False)}",
        "---",
        "stateDiagram-v2",
        "    direction LR",
    ]
    for drawing in drawings:
        prefix = "" if len(drawings) == 1 else f"{drawing.name}/"
        lines += [f"    {line}" for line in _drawing(drawing, prefix)]
    lines += [f"    {style}" for style in STYLES]
    return "\n".join([*lines, ""])


def _drawing(drawing: Drawing, prefix: str) -> Iterator[str]:
    for group, nodes in drawing.groups():
        boxes = [_node(node, prefix) for node in nodes]
        if group is None:
            yield from boxes
        else:
            yield f'state "{_text(group)}" as {_id(prefix + "group/" + group)} {{'
            yield from (f"    {box}" for box in boxes)
            yield "}"
    yield f"[*] --> {_id(prefix + drawing.initial)}"
    for edge in drawing.edges:
        yield _edge(edge, prefix)
    for node in drawing.nodes:
        if node.final:
            yield f"{_id(prefix + node.name)} --> [*]"
    final = [FINAL] if any(node.final for node in drawing.nodes) else []
    sentences = [*final, *drawing.legend, *(" | ".join(row) for row in drawing.table)]
    if sentences:
        lines = [line for text in sentences for line in textwrap.wrap(text, LEGEND_CHARACTERS_MAX)]
        yield f'state "{_text("<br/>".join(lines))}" as {_id(prefix + "legend")}'
        yield f"class {_id(prefix + 'legend')} legend"
    for node in drawing.nodes:
        style = _style(node, drawing)
        if style is not None:
            yield f"class {_id(prefix + node.name)} {style}"


def _node(node: Node, prefix: str) -> str:
    shows = [f"shows {node.shows}"] if node.shows else []
    words = "<br/>".join([node.title, *shows, *node.within])
    return f'state "{_text(words)}" as {_id(prefix + node.name)}'


def _style(node: Node, drawing: Drawing) -> str | None:
    if node.shape is Shape.ANY:
        return "any"
    if node.mark is not Mark.NONE:
        return "marked"
    if drawing.main_line and node.name == drawing.main_line[-1]:
        return "good"
    return None


def _edge(edge: Edge, prefix: str) -> str:
    lines = [line for phrase in edge.phrases for line in wrapped(phrase, CHARACTERS_MAX)]
    words = f" : {_text('<br/>'.join(lines))}" if lines else ""
    return f"{_id(prefix + edge.source)} --> {_id(prefix + edge.target)}{words}"


def _id(name: str) -> str:
    """A name that Mermaid takes for an identifier and not for a word of its own (`end`, `note`)."""
    return "s_" + re.sub(r"\W", "_", name)


def _text(text: str) -> str:
    """Text without the signs that mean something to Mermaid."""
    return (
        text.replace("#", "#35;").replace(";", "#59;").replace('"', "#quot;").replace(":", "#58;")
    )
