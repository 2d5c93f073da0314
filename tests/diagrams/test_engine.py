"""Pictures come from a real dot, else from graphviz-pure, else not: with the real programs."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv

import pytest

from doneness.diagrams import dot, engine, extract
from doneness.diagrams.fold import fold

SOURCE = dot.source([fold(extract.charts()["toolcall"])])
ENGINES = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(not found(), reason=f"{name} is not installed"),
    )
    for name, (found, _) in engine.ENGINES.items()
]
RUN = """
import site, sys
site.addsitedir(sys.argv.pop(1))
from doneness.machine.cli import main
main()
"""


@pytest.mark.parametrize("name", ENGINES)
def test_each_engine_draws_svg_and_png(name):
    svg = engine.picture(SOURCE, "svg", name).decode()
    assert svg.count('class="node"') == 6  # five states and the beginning
    assert svg.count('class="edge"') == 7
    assert svg.count('class="label"') == 6  # the beginning has no words
    assert svg.rindex('class="edge"') < svg.index('class="label"')
    assert f'font-family="{dot.FONT}"' in svg
    assert engine.picture(SOURCE, "png", name).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ENGINES)
def test_each_engine_draws_the_same_every_time(name):
    assert engine.picture(SOURCE, "svg", name) == engine.picture(SOURCE, "svg", name)


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_that_fails_says_so(name):
    with pytest.raises(engine.EngineFailedError, match=name):
        engine.picture("digraph {", "svg", name)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python with our packages but without the programs that came with them."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


def diagram(python, *arguments, path=""):
    return subprocess.run(
        [python, "-c", RUN, sysconfig.get_path("purelib"), "diagram", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, "PATH": path},
    )


def test_without_any_engine_texts_still_come_out(bare):
    for form, word in (("dot", b"digraph"), ("mermaid", b"stateDiagram-v2")):
        run = diagram(bare, "lifecycle", "--format", form)
        assert (run.returncode, run.stderr) == (0, b"")
        assert word in run.stdout


def test_without_any_engine_one_line_says_how_to_get_pictures(bare, tmp_path):
    asked = diagram(bare, "lifecycle", "--format", "svg")
    assert (asked.returncode, asked.stdout) == (2, b"")
    assert asked.stderr.count(b"\n") == 1
    assert b"doneness[pictures]" in asked.stderr
    unasked = diagram(bare, "lifecycle")
    assert unasked.returncode == 0
    assert unasked.stdout.startswith(b"digraph")
    assert unasked.stderr.decode() == f"{engine.HELP}\n"
    every = diagram(bare, "--output", str(tmp_path / "all"))
    assert every.returncode == 0
    assert every.stderr.decode().startswith(f"{engine.HELP}\n")
    assert {path.suffix for path in (tmp_path / "all").iterdir()} == {".dot", ".mmd"}


@pytest.mark.skipif(not engine.ENGINES[engine.PURE][0](), reason="graphviz-pure is not installed")
def test_without_dot_the_package_draws():
    assert engine.ENGINES[engine.PURE][0]()
    run = diagram(sys.executable, "lifecycle", "--format", "svg")
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"</svg>" in run.stdout


@pytest.mark.skipif(shutil.which("dot") is None, reason="dot is not installed")
def test_with_dot_it_is_the_one_that_draws():
    assert engine.available() == "dot"
