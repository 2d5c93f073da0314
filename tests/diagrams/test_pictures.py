"""The committed pictures: made from the declarations as they are, and fit to be read."""

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from doneness.diagrams import dot, gallery
from doneness.diagrams.extract import chart_of
from doneness.diagrams.fold import fold
from doneness.spec.lifecycle import LIFECYCLE

PICTURES = list(gallery.pictures())
SVGS = sorted(path.with_suffix(".svg") for path in gallery.FOLDER.glob("*.dot"))
README_PIXELS = 830
"""The width of the column in which GitHub shows a README."""
PIXELS_PER_POINT = 96 / 72
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_the_sources_are_those_of_the_declarations(picture):
    """A changed declaration makes this red: `make pictures`, look at them, and commit them."""
    for name, source in picture.sources():
        committed = (gallery.FOLDER / name).read_text("utf-8")
        assert committed == source, f"{name} is not up to date: run `make pictures`"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_every_picture_is_on_the_page_of_diagrams(picture):
    page = gallery.FOLDER.parent.parent / "docs" / "diagrams.md"
    if not page.exists():
        pytest.skip("the documentation is not beside the package")
    assert f"pictures/{picture.name}-light.svg" in page.read_text("utf-8")


def test_no_picture_is_left_of_a_machine_that_is_no_more():
    named = {Path(name).stem for picture in PICTURES for name, _ in picture.sources()}
    assert {path.stem for path in gallery.FOLDER.iterdir() if path.suffix} == named


@pytest.mark.parametrize("svg", SVGS, ids=lambda path: path.stem)
def test_a_picture_was_drawn_from_its_source(svg):
    source = svg.with_suffix(".dot").read_text("utf-8")
    assert gallery.digest(source) in svg.read_text("utf-8"), "run `make pictures`"


@pytest.mark.parametrize("index", range(len(LIFECYCLE.rows)))
def test_every_row_of_the_table_is_in_the_picture(index):
    """Leaving out any row changes the source in full, and so turns the comparison red."""
    rows = LIFECYCLE.rows[:index] + LIFECYCLE.rows[index + 1 :]
    shorter = type(LIFECYCLE)(
        LIFECYCLE.name,
        LIFECYCLE.title,
        LIFECYCLE.states,
        LIFECYCLE.initial,
        LIFECYCLE.triggers,
        rows,
        LIFECYCLE.facts,
        LIFECYCLE.effects,
        LIFECYCLE.main_line,
    )
    whole = dot.source([fold(chart_of(LIFECYCLE), full=True)])
    assert dot.source([fold(chart_of(shorter), full=True)]) != whole


@pytest.mark.parametrize("svg", SVGS, ids=lambda path: path.stem)
def test_a_picture_needs_no_scrolling(svg):
    assert _width_pixels(svg) <= 1600


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_text_of_the_readme_is_ten_points_at_least(theme):
    svg = gallery.FOLDER / f"lifecycle-{theme}.svg"
    smallest = min(map(float, re.findall(r'font-size="([\d.]+)"', svg.read_text("utf-8"))))
    assert smallest * min(1, README_PIXELS / _width_pixels(svg)) >= 10


@pytest.mark.parametrize("svg", SVGS, ids=lambda path: path.stem)
def test_no_label_lies_on_another_or_on_a_state(svg):
    boxes = _boxes(svg)
    source = svg.with_suffix(".dot").read_text("utf-8")
    edges = [line for line in source.splitlines() if "->" in line and "label=" in line]
    assert sum("->" in title for title, _ in boxes) == len(edges)
    for (name, a), (other, b) in combinations(boxes, 2):
        over_x = min(a[2], b[2]) - max(a[0], b[0])
        over_y = min(a[3], b[3]) - max(a[1], b[1])
        assert over_x <= 1 or over_y <= 1, f"{name!r} and {other!r} overlap in {svg.name}"


def _width_pixels(svg: Path) -> float:
    found = re.search(r'<svg width="([\d.]+)pt"', svg.read_text("utf-8"))
    assert found
    return float(found[1]) * PIXELS_PER_POINT


def _boxes(svg: Path):
    """The boxes of states, of the words of edges and of the names of groups.

    Each with its title: left, top, right, bottom.
    """
    boxes = []
    for group in ET.parse(svg).iter(f"{SVG}g"):
        title = group.findtext(f"{SVG}title")
        if group.get("class") == "node":
            shapes = group.iter(f"{SVG}path"), group.iter(f"{SVG}polygon")
            points = [_points(shape.get("d") or shape.get("points")) for s in shapes for shape in s]
        elif group.get("class") == "label":
            points = [_points(ground.get("points")) for ground in group.iter(f"{SVG}polygon")]
        elif group.get("class") == "cluster":
            points = [_letters(text) for text in group.iter(f"{SVG}text")]
        else:
            continue
        if points:
            xs, ys = zip(*(point for shape in points for point in shape), strict=True)
            boxes.append((title, (min(xs), min(ys), max(xs), max(ys))))
    return boxes


def _letters(text: ET.Element) -> list[tuple[float, float]]:
    """About where the name of a group stands; it is centred at its place."""
    x, y = float(text.get("x")), float(text.get("y"))
    half = len(text.text) * 0.6 * float(text.get("font-size")) / 2
    return [(x - half, y - 7), (x + half, y)]


def _points(text: str) -> list[tuple[float, float]]:
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))
