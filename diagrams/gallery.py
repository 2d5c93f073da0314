"""The committed pictures: for each, its sources, and how to make it again.

`make pictures` runs this module. The sources (DOT, Mermaid) are what the tests compare with the
declarations; an SVG names the digest of the source that it was drawn from, so that a picture left
behind by its source is found as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from doneness.diagrams import dot, mermaid
from doneness.diagrams.engine import NoEngineError, picture
from doneness.diagrams.extract import charts
from doneness.diagrams.fold import fold
from doneness.diagrams.theme import THEMES

FOLDER: Final = Path(__file__).with_name("pictures")


@dataclass(frozen=True, slots=True)
class Picture:
    """A committed picture.

    Attributes:
        dots: Its DOT source on each page, light and dark.
        mermaid: The same as Mermaid.
    """

    name: str
    dots: Mapping[str, str]
    mermaid: str

    def sources(self) -> Iterator[tuple[str, str]]:
        """The text files: name and content."""
        for theme, source in self.dots.items():
            yield f"{self.name}-{theme}.dot", source
        yield f"{self.name}.mmd", self.mermaid


def pictures() -> Iterator[Picture]:
    """Every declared machine, as it is shown by default and in full."""
    for chart in charts().values():
        for full in (False, True):
            drawing = fold(chart, full=full)
            yield Picture(
                f"{chart.name}-full" if full else chart.name,
                {
                    name: dot.source([drawing], theme, hints=not full)
                    for name, theme in THEMES.items()
                },
                mermaid.source([drawing]),
            )


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
