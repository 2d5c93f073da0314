"""The committed page of tables is the one that the declarations make."""

from __future__ import annotations

from pathlib import Path

from doneness.diagrams.tables_page import page

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_matches_the_declarations() -> None:
    """Run `make pictures` after a change of a table, and read what changed."""
    assert PAGE.read_text("utf-8") == page()
