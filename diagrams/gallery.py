"""The committed pictures: for each, its sources, and how to make it again.

`make pictures` runs this module. The sources (DOT, Mermaid) are what the tests compare with the
declarations; an SVG names the digest of the source that it was drawn from, so that a picture left
behind by its source is found as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from doneness.diagrams import dot, mermaid, sequence
from doneness.diagrams.drawing import Drawing
from doneness.diagrams.engine import NoEngineError, picture
from doneness.diagrams.extract import charts
from doneness.diagrams.fold import fold
from doneness.diagrams.path import MACHINE, walked
from doneness.diagrams.theme import THEMES
from doneness.fixtures.cases import Case, every

FOLDER: Final = Path(__file__).with_name("pictures")


@dataclass(frozen=True, slots=True)
class Picture:
    """A committed picture.

    Attributes:
        mermaid: Its Mermaid source.
        dots: Its DOT source on each page, light and dark, where an engine draws it.
        svgs: Its SVG on each page, where we draw it.
    """

    name: str
    mermaid: str
    dots: Mapping[str, str] = field(default_factory=dict)
    svgs: Mapping[str, str] = field(default_factory=dict)

    def sources(self) -> Iterator[tuple[str, str]]:
        """The text files: name and content."""
        for theme, source in self.dots.items():
            yield f"{self.name}-{theme}.dot", source
        for theme, svg in self.svgs.items():
            yield f"{self.name}-{theme}.svg", svg
        yield f"{self.name}.mmd", self.mermaid


def pictures() -> Iterator[Picture]:
    """Every declared machine, as it is shown by default and in full; and the example."""
    for chart in charts().values():
        yield _graph(chart.name, fold(chart), hints=True)
        yield _graph(f"{chart.name}-full", fold(chart, full=True), hints=False)
    case = example()
    yield _graph("path", fold(*walked(charts()[MACHINE], case)), hints=False)
    yield Picture(
        "sequence",
        sequence.mermaid(case),
        svgs={name: sequence.svg(case, theme) for name, theme in THEMES.items()},
    )


def example() -> Case:
    """The case of the documentation: a subject that takes any success at its word."""
    case = next(case for case in every() if case.name == "cancel_then_success")
    return replace(case, shown_steps=("cancelling", "checking", "done"))


def _graph(name: str, drawing: Drawing, *, hints: bool) -> Picture:
    dots = {theme: dot.source([drawing], colours, hints=hints) for theme, colours in THEMES.items()}
    return Picture(name, mermaid.source([drawing]), dots)


def stamped(svg: bytes, source: str) -> bytes:
    """The SVG with the digest of its source in a comment."""
    return svg.rstrip() + f"\n<!-- drawn from {digest(source)} -->\n".encode()


def digest(source: str) -> str:
    """The digest that a picture names."""
    return f"sha256:{sha256(source.encode()).hexdigest()}"


def write(folder: Path) -> list[Path]:
    """Write all sources and pictures, and remove those of machines that are no more.

    Raises:
        NoEngineError: nothing here draws SVG; the sources are written all the same.
    """
    written = []
    missing: NoEngineError | None = None
    folder.mkdir(parents=True, exist_ok=True)
    for drawn in pictures():
        for name, source in drawn.sources():
            path = folder / name
            path.write_text(source, "utf-8")
            written.append(path)
            if path.suffix == ".dot":
                try:
                    svg = picture(source, "svg")
                except NoEngineError as error:
                    missing = error
                    continue
                path.with_suffix(".svg").write_bytes(stamped(svg, source))
                written.append(path.with_suffix(".svg"))
    for path in folder.iterdir():
        if path.suffix in {".dot", ".mmd", ".svg"} and path not in written and missing is None:
            path.unlink()
    if missing is not None:
        raise missing
    return written


if __name__ == "__main__":
    try:
        sys.stdout.write("".join(f"{path.name}\n" for path in write(FOLDER)))
    except NoEngineError as none:
        sys.exit(str(none))
