"""Mermaid sources: pictures that GitHub draws from text, without any program.

The same drawing as DOT, in the words of `stateDiagram-v2`. Mermaid has no double borders, so a
state where the machine may rest is marked by a bar (▣) and by its arrow to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doneness.diagrams.drawing import Drawing, Edge, Mark, Node, Shape
from doneness.diagrams.words import wrapped

CHARACTERS_MAX = 34
STYLES = (
    "classDef good stroke-width:3px,font-weight:bold",
    "classDef any stroke-dasharray:5 4",
    "classDef marked stroke-width:3px",
)


def source(drawings: Sequence[Drawing]) -> str:
    """One Mermaid state diagram of one or more drawings."""
    title = " · ".join(drawing.title for drawing in drawings)
    lines = ["---", f"title: {_text(title)}", "---", "stateDiagram-v2", "    direction LR"]
    for drawing in drawings:
        prefix = "" if len(drawings) == 1 else f"{drawing.name}/"
        lines += [f"    {line}" for line in _drawing(drawing, prefix)]
    lines += [f"    {style}" for style in STYLES]
    return "\n".join([*lines, ""])


def _drawing(drawing: Drawing, prefix: str) -> Iterator[str]:
    for group, nodes in drawing.groups():
        if group is None:
            for node in nodes:
                yield from _node(node, drawing, prefix)
            continue
        yield f'state "{_text(group)}" as {_id(prefix + "group/" + group)} {{'
        for node in nodes:
            yield from (f"    {line}" for line in _node(node, drawing, prefix))
        yield "}"
    yield f"[*] --> {_id(prefix + drawing.initial)}"
    for edge in drawing.edges:
        yield _edge(edge, prefix)
    for node in drawing.nodes:
        if node.final:
            yield f"{_id(prefix + node.name)} --> [*]"
    for sentence in drawing.legend:
        yield f"%% {sentence}"
    for row in drawing.table:
        yield f"%% {' | '.join(row)}"


def _node(node: Node, drawing: Drawing, prefix: str) -> Iterator[str]:
    shows = [f"shows {node.shows}"] if node.shows else []
    words = "<br/>".join([node.title, *shows, *node.within])
    name = _id(prefix + node.name)
    yield f'state "{_text(words)}" as {name}'
    if node.shape is Shape.ANY:
        yield f"class {name} any"
    elif node.mark is not Mark.NONE:
        yield f"class {name} marked"
    elif drawing.main_line and node.name == drawing.main_line[-1]:
        yield f"class {name} good"


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
