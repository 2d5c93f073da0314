"""The JavaScript module: its own tests under Node, and its types under a real `tsc`."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MODULE = HERE.parents[1] / "machine" / "javascript" / "doneness.mjs"
TYPES = MODULE.with_suffix(".d.mts")
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")


def run(*command: str | Path) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


@needs_node
@pytest.mark.parametrize("name", ["reducer", "decoder"])
def test_under_node(name: str) -> None:
    """All of the module's own tests pass, and there are some."""
    said = run(NODE, "--test", "--test-reporter=tap", HERE / f"{name}.test.mjs")
    assert int(re.search(r"^# pass (\d+)$", said, re.MULTILINE)[1]) > 100
    assert re.search(r"^# fail 0$", said, re.MULTILINE)


def test_depends_on_nothing() -> None:
    """One module that imports nothing and touches neither Node nor the page."""
    text = MODULE.read_text("utf-8")
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    assert len(code) > len(text) / 2
    assert not re.search(r"\b(import|require|process|Buffer|window|document|globalThis)\b", code)


@needs_node
def test_types_declare_what_is_exported() -> None:
    """Names and members of the declarations are those of the module, no more and no fewer."""
    script = f"""
        const module = await import({str(MODULE)!r});
        const members = (kind) => Object.getOwnPropertyNames(kind.prototype ?? {{}});
        for (const [name, value] of Object.entries(module)) {{
            console.log(name, ...members(value).filter((member) => member !== "constructor"));
        }}
    """
    exported = {
        name: set(members)
        for name, *members in map(
            str.split, run(NODE, "--input-type=module", "-e", script).splitlines()
        )
    }
    text = TYPES.read_text("utf-8")
    declared = re.findall(r"^export declare (?:const|class|function) (\w+)", text, re.MULTILINE)
    assert sorted(declared) == sorted(exported)
    for name in ("Progress", "Producer", "SSEDecoder"):
        body = re.search(rf"class {name}\b.*?\{{(.*?)^\}}", text, re.MULTILINE | re.DOTALL)[1]
        members = set(re.findall(r"^  (?:readonly )?(\w+)[:(<]", body, re.MULTILINE)) - {
            "constructor"
        }
        assert members == exported[name]


def test_types_hold_in_a_typescript_project() -> None:
    """A real compiler accepts right use and refuses wrong use, in both ways of resolution."""
    local = HERE / "node_modules" / ".bin" / "tsc"
    compiler = str(local) if local.exists() else shutil.which("tsc")
    if compiler is None:
        pytest.skip("tsc is not installed (npm install in tests/javascript)")
    common = ("--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom")
    for module, resolution in (("nodenext", "nodenext"), ("esnext", "bundler")):
        run(
            *(compiler, *common, "--module", module, "--moduleResolution", resolution),
            HERE / "usage.ts",
        )


@needs_node
def test_the_sample_of_the_page_runs(tmp_path: Path) -> None:
    """As it stands, over real HTTP, to the end of a good run."""
    page = HERE.parents[1] / "docs" / "javascript.md"
    said = run(NODE, HERE / "page_sample.mjs", page, MODULE, tmp_path)
    assert said.splitlines()[-1] == "done Done: the run ended and the local check passed"
