"""DOT sources: what Graphviz lays out.

Deterministic text: the same drawing gives the same bytes, so that a test can compare a committed
source with the declarations, and a review shows a change of a picture as a change of lines.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

from doneness.diagrams.drawing import Drawing, Edge, Mark, Node, Shape
from doneness.diagrams.layout import AUTOMATIC, LAYOUTS, Layout
from doneness.diagrams.theme import LIGHT, Theme
from doneness.diagrams.words import wrapped

FONT: Final = "Helvetica,Arial,sans-serif"
FONT_POINTS: Final = 10
SIGN_CHARACTERS: Final = 3  # `~ `, `12: `
TITLE_CHARACTERS_MAX: Final = 16
BOX_CHARACTERS_MAX: Final = 18
LEGEND_CHARACTERS_MAX: Final = 108
FINAL: Final = "Double border: the machine may rest there for good."
WIDTH_INCHES_MAX: Final = 16.6  # 1,600 pixels need no scrolling; a wider picture is drawn smaller
HEIGHT_INCHES_MAX: Final = 100
START: Final = "(begins)"  # no state has such a name
LEFT: Final = '<br align="left"/>'
TABLE: Final = 'table border="0" cellborder="0" cellspacing="0"'


def source(
    drawings: Sequence[Drawing],
    theme: Theme = LIGHT,
    *,
    title: str | None = None,
    hints: bool = True,
) -> str:
    """One DOT graph of one or more drawings, one above the other.

    Args:
        drawings: At least one.
        theme: The colours.
        title: The graph's name; default: that of the first drawing.
        hints: Use the hints on where states stand; without, Graphviz alone decides.
    """
    layouts = [LAYOUTS.get(drawing.name, AUTOMATIC) if hints else AUTOMATIC for drawing in drawings]
    lines = list(_defaults(theme, ordered=any(layout.columns for layout in layouts)))
    for number, (drawing, layout) in enumerate(zip(drawings, layouts, strict=True)):
        prefix = "" if len(drawings) == 1 else f"{drawing.name}/"
        lines += _Machine(drawing, layout, theme, prefix, number).lines()
    lines += _caption(drawings)
    return "\n".join(
        [f"digraph {_quoted(title or drawings[0].name)} {{", *_indented(lines), "}", ""]
    )


def _defaults(theme: Theme, *, ordered: bool) -> Iterator[str]:
    font = {"fontname": FONT, "fontsize": FONT_POINTS, "fontcolor": theme.ink}
    graph = {
        "rankdir": "LR",
        "bgcolor": theme.page,
        "nodesep": 0.16,
        "ranksep": 0.08,
        "pad": 0.05,
    }
    graph["size"] = f"{WIDTH_INCHES_MAX},{HEIGHT_INCHES_MAX}"
    if ordered:  # a second pass would undo the order of the columns
        graph["remincross"] = "false"
    node = {"shape": "box", "style": "rounded,filled", "color": theme.ink, "margin": "0.06,0.04"}
    yield f"graph {_attributes(graph | font)};"
    yield f"node {_attributes(node | {'height': 0.28, 'width': 0.3} | font)};"
    yield f"edge {_attributes({'color': theme.ink, 'arrowsize': 0.6} | font)};"


class _Machine:
    """The lines of one drawing."""

    def __init__(
        self, drawing: Drawing, layout: Layout, theme: Theme, prefix: str, number: int
    ) -> None:
        self.drawing = drawing
        self.layout = layout
        self.theme = theme
        self.prefix = prefix
        self.number = number

    def lines(self) -> Iterator[str]:
        yield f"subgraph {_quoted(f'cluster_{self.number}')} {{"
        yield from _indented(self._boxes())
        yield "}"
        start, first = self._id(START), self._id(self.drawing.initial)
        yield f"{start} -> {first} {_attributes({'weight': 20})};"
        # Loops last: their words lie on top of the lines that pass.
        for edge in sorted(self.drawing.edges, key=lambda edge: edge.source == edge.target):
            yield f"{self._id(edge.source)} -> {self._id(edge.target)} {self._edge(edge)};"

    def _id(self, name: str) -> str:
        return _quoted(self.prefix + name)

    def _boxes(self) -> Iterator[str]:
        yield f"graph {_attributes({'peripheries': 0, 'margin': 2})};"
        yield f"{self._id(START)} {_attributes(self._start())};"
        for index, (group, nodes) in enumerate(self.drawing.groups()):
            boxes = [f"{self._id(node.name)} {self._node(node)};" for node in nodes]
            if group is None:
                yield from boxes
                continue
            frame = {
                "label": group,
                "labeljust": "l",
                "peripheries": 1,
                "color": self.theme.frame,
                "fontcolor": self.theme.faint,
                "style": "rounded",
                "margin": 5,
            }
            yield f"subgraph {_quoted(f'cluster_{self.number}_{index}')} {{"
            yield from _indented([f"graph {_attributes(frame)};", *boxes, *self._columns(nodes)])
            yield "}"

    def _start(self) -> dict[str, object]:
        """A dot; of several machines, each has its title there, where no edge can run through."""
        if self.prefix:
            lines = wrapped(self.drawing.title, TITLE_CHARACTERS_MAX)
            title = "<br/>".join(f"<b>{escape(line)}</b>" for line in lines)
            return {"shape": "plain", "style": "solid", "label": _Html(title)}
        dot = {"shape": "circle", "style": "filled", "fillcolor": self.theme.ink, "label": ""}
        return dot | {"width": 0.12, "height": 0.12, "fixedsize": "true"}

    def _columns(self, nodes: Sequence[Node]) -> Iterator[str]:
        """Keep the hinted order, from top to bottom, of the nodes of one group in one column."""
        there = {node.name for node in nodes}
        for column in self.layout.columns:
            names = [self._id(name) for name in column if name in there]
            if len(names) > 1:
                chain = " -> ".join(reversed(names))  # from left to right, Graphviz fills upwards
                yield f"{{ rank=same; {chain} {_attributes({'style': 'invis'})}; }}"

    def _node(self, node: Node) -> str:
        lines = [escape(line) for line in self._title(node)]
        if node.name in self.drawing.main_line:
            lines = [f"<b>{line}</b>" for line in lines]
        if node.shows:
            lines.append(f"shows <i>{escape(node.shows)}</i>")
        for phrase in node.within:
            lines += map(escape, wrapped(phrase, BOX_CHARACTERS_MAX))
        attributes: dict[str, object] = {
            "label": _Html("<br/>".join(lines)),
            "fillcolor": self._fill(node),
        }
        if node.shape is Shape.ANY:
            attributes["style"] = "dashed"
        elif node.shape is Shape.SUBJECT:
            attributes["style"] = "filled"
        elif node.shape is Shape.ISSUE:
            attributes |= {"style": "diagonals,filled", "margin": "0.13,0.07"}
        if node.final:
            attributes["peripheries"] = 2
        ink = self._ink(node.mark, pale=node.pale)
        if ink != self.theme.ink:
            attributes |= {"color": ink, "fontcolor": ink}
        if node.mark is not Mark.NONE:
            attributes["penwidth"] = 2.5
        return _attributes(attributes)

    @staticmethod
    def _title(node: Node) -> Sequence[str]:
        if node.shape is Shape.ANY:
            return wrapped(node.title, BOX_CHARACTERS_MAX)
        return (node.title,)

    def _fill(self, node: Node) -> str:
        if node.shape in {Shape.ANY, Shape.SUBJECT} or node.pale:
            return self.theme.page
        if node.shape is Shape.ISSUE:
            return self.theme.fills["unknown"]
        good = self.drawing.main_line and node.name == self.drawing.main_line[-1]
        return self.theme.fills.get("good" if good else node.group or "", self.theme.page)

    def _ink(self, mark: Mark, *, pale: bool) -> str:
        return self.theme.lines.get(mark, self.theme.faint if pale else self.theme.ink)

    def _edge(self, edge: Edge) -> str:
        within = any({edge.source, edge.target} <= set(column) for column in self.layout.columns)
        characters_max = self.layout.gutter_characters_max if within else self.layout.characters_max
        if edge.mark is not Mark.NONE:
            characters_max += SIGN_CHARACTERS
        ink = self._ink(edge.mark, pale=edge.pale)
        attributes: dict[str, object] = {}
        if edge.phrases:
            attributes["label"] = _Html(_opaque(_words(edge.phrases, characters_max), self.theme))
        if ink != self.theme.ink:
            attributes |= {"color": ink, "fontcolor": ink}
        attributes["penwidth"] = edge.width
        if edge.main:
            attributes["weight"] = 20
        if within:
            attributes["constraint"] = "false"
        if edge.mark in {Mark.REMOVED, Mark.BEFORE, Mark.MISSED, Mark.LEFT}:
            attributes["style"] = "dashed"
        elif edge.refused:
            attributes["style"] = "dotted"
        return _attributes(attributes)


def _caption(drawings: Sequence[Drawing]) -> Iterator[str]:
    """What stands under the picture: its title, the legend, and the steps of a case."""
    rows = [_row(f"<b>{escape(drawings[0].title)}</b>")] if len(drawings) == 1 else []
    if any(node.final for drawing in drawings for node in drawing.nodes):
        rows.append(_row(escape(FINAL)))
    shared = [
        text
        for text in drawings[0].legend
        if len(drawings) > 1 and all(text in drawing.legend for drawing in drawings)
    ]
    rows += [_row(escape(line)) for text in shared for line in _lines(text)]
    for drawing in drawings:
        sentences = [line for text in drawing.legend if text not in shared for line in _lines(text)]
        if len(drawings) > 1 and sentences:
            rows.append(_row(f"<b>{escape(drawing.title)}</b>"))
        rows += [_row(escape(line)) for line in sentences]
        if drawing.table:
            rows.append(f"<tr><td>{_steps(drawing.table)}</td></tr>")
    if rows:
        table = f'<{TABLE} cellpadding="1">{"".join(rows)}</table>'
        label = {"label": _Html(table), "labelloc": "b", "labeljust": "l"}
        yield f"graph {_attributes(label)};"


def _row(text: str) -> str:
    # Some room behind: another font than the one that was measured may be wider.
    return f'<tr><td align="left">{text}&#160;&#160;&#160;</td></tr>'


def _steps(rows: Sequence[Sequence[str]]) -> str:
    """The steps of a case as a table; the header in bold."""
    lines = []
    for number, row in enumerate(rows):
        cells = [f"<b>{escape(cell)}</b>" if number == 0 else escape(cell) for cell in row]
        lines.append("".join(f'<td align="left">{cell or " "}</td>' for cell in cells))
    return f'<{TABLE} cellpadding="3" align="left"><tr>{"</tr><tr>".join(lines)}</tr></table>'


def _lines(text: str) -> list[str]:
    return textwrap.wrap(
        text, LEGEND_CHARACTERS_MAX, break_long_words=False, break_on_hyphens=False
    )


def _words(phrases: Sequence[str], characters_max: int) -> str:
    """One phrase centred; several below each other, each with its further lines indented."""
    blocks = [[escape(line) for line in wrapped(phrase, characters_max)] for phrase in phrases]
    if len(blocks) == 1:
        return "<br/>".join(blocks[0])
    further = f"{LEFT}&#160;&#160;"
    return "".join(further.join(block) + LEFT for block in blocks)


def _opaque(text: str, theme: Theme) -> str:
    """Words on the page's colour, so that a line that runs behind them does not strike them out."""
    return f'<{TABLE} cellpadding="1"><tr><td bgcolor="{theme.page}">{text}</td></tr></table>'


class _Html(str):
    """A label in Graphviz's HTML."""

    __slots__ = ()


def _attributes(attributes: Mapping[str, object]) -> str:
    return f"[{', '.join(f'{name}={_value(value)}' for name, value in attributes.items())}]"


def _value(value: object) -> str:
    if isinstance(value, _Html):
        return f"<{value}>"
    return str(value) if isinstance(value, int | float) else _quoted(str(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]
