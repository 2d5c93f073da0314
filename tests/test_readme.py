"""The README's promises: its program prints what it says, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("*/README.md")),
]


def test_its_program_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The comment behind each print is its output."""
    page = (ROOT / "README.md").read_text("utf-8")
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    promised = re.findall(r"print\(.*\)\s+# (.*)", program)
    exec(program, {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(promised)
    for line, promise in zip(printed, promised, strict=True):
        assert promise.split(":")[0] in line


@pytest.mark.parametrize("page", ["framing.md", "transport.md"])
def test_the_programs_of_a_page_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are written, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    programs = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL
    )
    assert programs
    for program in programs:
        exec(program, {"__name__": "page"})


@pytest.mark.parametrize("name", ["anthropic", "chat", "openai-responses"])
def test_the_program_of_a_format_reads_a_capture(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As it is written, on a capture of the project."""
    monkeypatch.chdir(tmp_path)
    capture = ROOT / "fixtures" / "captures" / f"{name}.text.sse"
    (tmp_path / "capture.sse").write_bytes(capture.read_bytes())
    page = (ROOT / "docs" / "formats" / f"{name}.md").read_text("utf-8")
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(program, {"__name__": "page"})
    assert capsys.readouterr().out == "checking\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_links_lead_somewhere(page: Path) -> None:
    """Every relative link of every page names a file that is there."""
    links = re.findall(
        r"\]\(([^)#\s]+)[^)]*\)|(?:src|srcset)=\"([^\"]+)\"", page.read_text("utf-8")
    )
    local = [one or other for one, other in links if "://" not in (one or other)]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_programs_are_programs(page: Path) -> None:
    """Each Python block compiles by itself, also one that needs a network to run."""
    for program in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        compile(program, str(page), "exec")


def test_its_make_targets_exist() -> None:
    """Each `make x` of the README is a target."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text("utf-8")))
    assert named - {"and"} <= targets
