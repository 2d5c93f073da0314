"""Who turns DOT into pictures: a real `dot`, else the program of `graphviz-pure`, else nobody.

`graphviz-pure` (the extra `pictures`) is beta and therefore pinned. It brings its own metrics for
Arial and knows no lists of fonts, so it is given that one name, and its SVG the list afterwards.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import graphviz

from doneness.diagrams.dot import FONT, FONT_POINTS

PURE: Final = "graphviz-pure"
PURE_FONT: Final = "Arial"
PURE_ROOM: Final = 1.13
"""Words in an SVG are given so much more room than Arial needs: a page without it shows them in
another font, and DejaVu Sans, the usual one of Linux, is wider."""
DOTS_PER_INCH: Final = 96
"""A point of text is as large in the PNG as in the SVG at the usual resolution of screens."""

HELP: Final = (
    "SVG and PNG need Graphviz: install its `dot`, or `pip install 'doneness[pictures]'`; "
    "--format dot and --format mermaid need neither."
)


class NoEngineError(Exception):
    """There is neither a `dot` nor a `graphviz-pure`."""


class EngineFailedError(Exception):
    """The engine did not accept the source, or did not end well."""


def _with_dot(source: str, form: str) -> bytes:
    resolution = source.replace("{", f"{{\n  graph [dpi={DOTS_PER_INCH}];", 1)
    try:
        picture: bytes = graphviz.Source(resolution if form == "png" else source).pipe(format=form)
    except (graphviz.ExecutableNotFound, subprocess.CalledProcessError) as error:
        raise EngineFailedError(f"dot: {error}") from error
    return picture


def _with_pure(source: str, form: str) -> bytes:
    program = _pure()
    if program is None:
        raise NoEngineError(HELP)
    if form == "svg":
        svg = _run_pure(program, source.replace(_SIZE, f"fontsize={_ROOMY}"), "-Tsvg")
        back = svg.replace(
            f'font-size="{_ROOMY:.2f}"'.encode(), f'font-size="{FONT_POINTS}"'.encode()
        )
        return back.replace(f'"{PURE_FONT}"'.encode(), f'"{FONT}"'.encode())
    return _run_pure(program, source, f"-T{form}", f"-Gdpi={DOTS_PER_INCH}")


_SIZE: Final = f"fontsize={FONT_POINTS}"
_ROOMY: Final = round(FONT_POINTS * PURE_ROOM, 2)


def _run_pure(program: str, source: str, *options: str) -> bytes:
    # The program and its arguments are ours; the source goes through standard input.
    run = subprocess.run(  # noqa: S603
        [program, *options],
        input=source.replace(FONT, PURE_FONT).encode(),
        capture_output=True,
        check=False,
    )
    if run.returncode != 0:
        raise EngineFailedError(f"{PURE}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout


def _pure() -> str | None:
    """The program, from this environment first."""
    scripts = sysconfig.get_path("scripts")
    return shutil.which(PURE, path=scripts) or shutil.which(PURE)


def _found_dot() -> bool:
    return shutil.which("dot") is not None


def _found_pure() -> bool:
    return _pure() is not None


_Engine = tuple[Callable[[], bool], Callable[[str, str], bytes]]
ENGINES: Final[Mapping[str, _Engine]] = MappingProxyType(
    {"dot": (_found_dot, _with_dot), PURE: (_found_pure, _with_pure)}
)


def available() -> str | None:
    """The name of the engine that will be used; None where there is none."""
    return next((name for name, (found, _) in ENGINES.items() if found()), None)


def picture(source: str, form: str, engine: str | None = None) -> bytes:
    """An SVG or PNG of a DOT source.

    Args:
        source: DOT text.
        form: `svg` or `png`.
        engine: A name in `ENGINES`; None: the first that is there.

    Raises:
        NoEngineError: there is none, or not the one that was asked for.
        EngineFailedError: the engine refused the source.
    """
    name = engine or available()
    if name is None or not ENGINES[name][0]():
        raise NoEngineError(HELP)
    drawn = ENGINES[name][1](source, form)
    return words_last(drawn.decode()).encode() if form == "svg" else drawn


def words_last(svg: str) -> str:
    """The SVG with the words of all edges on top, so that no line strikes them out.

    Graphviz paints edge by edge, and the line of one over the words of another. The words move
    from the group of their edge to one of their own, of class `label`, with the same title.
    """
    labels: list[str] = []

    def without_words(edge: re.Match[str]) -> str:
        labels.append(f'<g class="label">\n{edge["title"]}{edge["words"]}</g>\n')
        return f"{edge['head']}{edge['title']}{edge['lines']}</g>\n"

    rest = _EDGE.sub(without_words, svg)
    end = rest.rindex("</g>\n</svg>")
    return rest[:end] + "".join(labels) + rest[end:]


_EDGE: Final = re.compile(
    r'(?P<head><g id="\w+" class="edge">\n)(?P<title><title>.*</title>\n)'
    r"(?P<lines>(?:<(?:path|polygon|ellipse) (?![^>]*stroke=\"(?:none|transparent)\").*\n)+)"
    r'(?P<words>(?:<(?:polygon [^>]*stroke="(?:none|transparent)"|text).*\n)+)</g>\n'
)
