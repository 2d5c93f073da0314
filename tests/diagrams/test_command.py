"""`doneness diagram` and `doneness sequence`, as a person calls them."""

import json

import pytest
from click.testing import CliRunner

from doneness.diagrams import engine, extract
from doneness.machine.cli import main

CHARTS = extract.charts()
DRAWS = pytest.mark.skipif(engine.available() is None, reason="no Graphviz is installed")


def call(*arguments, code=0):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture
def divergence(tmp_path):
    """A case on which some subject showed done after the last text."""
    event = {"run": "r", "id": "r:1", "seq": 1, "kind": "text.delta", "data": {"text": "x"}}
    case = {
        "name": "last_text",
        "run": "r",
        "events": [event, None],
        "expected_steps": ["running", "unknown"],
        "shown_steps": ["done"],
        "found_by": "exploration",
    }
    path = tmp_path / "last_text.json"
    path.write_text(json.dumps(case), "utf-8")
    return str(path)


def test_without_a_name_all_machines_are_listed():
    lines = call("diagram").output.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(CHARTS)


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("full", [(), ("--full",)], ids=["folded", "full"])
def test_every_machine_comes_out_as_text(name, full):
    assert call("diagram", name, "--format", "dot", *full).output.startswith("digraph")
    assert "stateDiagram-v2" in call("diagram", name, "--format", "mermaid", *full).output


def test_a_part_of_the_project_may_have_several_machines():
    output = call("diagram", "framing", "--format", "dot").output
    assert output.count("digraph") == 1
    assert "framing_lines/" in output
    assert "framing_fields/" in output
    assert "lifecycle" not in output


@DRAWS
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_follows_from_the_name_of_the_output(tmp_path, theme):
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".dot", b"digraph")):
        path = tmp_path / f"toolcall{suffix}"
        call("diagram", "toolcall", "--theme", theme, "-o", str(path))
        assert path.read_bytes().startswith(start)


@DRAWS
def test_a_folder_takes_all(tmp_path):
    call("diagram", "--output", str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{suffix}" for name in CHARTS for suffix in ("svg", "dot", "mmd")
    }


def test_all_texts_go_to_standard_output():
    assert call("diagram", "--format", "dot").output.count("digraph") == len(CHARTS)


@DRAWS
def test_one_file_takes_all_in_one_picture_each_with_its_title(tmp_path):
    path = tmp_path / "all.dot"
    call("diagram", "-o", str(path))
    source = path.read_text("utf-8")
    assert source.count("digraph") == 1
    assert all(f'"{name}/(begins)"' in source for name in CHARTS)


def test_a_path_is_numbered_and_a_stray_subject_is_marked(divergence):
    output = call("diagram", "lifecycle", "--path", divergence, "--format", "dot").output
    assert "1: text.delta" in output
    assert "2: eof" in output
    assert "✗ 1: text.delta" in output
    output = call("diagram", "--path", "normal", "--format", "mermaid").output
    assert "8#58; eof" in output
    assert "✗" not in output


def test_coverage_is_drawn(tmp_path):
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"toolcall": {"running|tool.finished": 7}}), "utf-8")
    output = call("diagram", "toolcall", "--coverage", str(path), "--format", "dot").output
    assert "tool.finished ×7" in output
    assert "tool.failed ×0" in output


def test_a_case_as_a_sequence(divergence, tmp_path):
    assert "✗ done" in call("sequence", divergence, "--format", "mermaid").output
    path = tmp_path / "case.svg"
    call("sequence", "normal", "-o", str(path), "--theme", "dark")
    assert path.read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("diagram", "nothing"), "there are: evidence"),
        (("diagram", "--path", "norml", "--format", "dot"), "normal"),
        (("diagram", "toolcall", "--path", "normal"), "a path of lifecycle"),
        (("diagram", "--coverage", "no-such-file", "--format", "dot"), "pytest -m model"),
        (("diagram", "--diff", "no-such-revision"), "no-such-revision"),
        (("diagram", "--diff", "HEAD", "--path", "normal"), "choose one"),
        (("diagram", "--format", "svg"), "--output"),
        (("diagram", "toolcall", "-o", "x.docx"), "x.docx"),
        (("diagram", "toolcall", "--format", "dot", "-o", "/dev/null/x.dot"), "cannot write"),
        (("sequence", "normal", "-o", "x.png"), "svg or mermaid"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments, words):
    result = call(*arguments, code=2)
    assert words in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_sequence_offers_what_it_comes_in():
    shown = call("sequence", "--help").output
    assert "[svg|mermaid]" in shown
    assert "--engine" not in shown
    assert "[svg|png|dot|mermaid]" in call("diagram", "--help").output


def test_a_sequence_in_a_folder_has_the_name_of_its_case(tmp_path):
    call("sequence", "normal", "-o", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["normal.svg"]


def test_a_bad_file_is_named_with_its_place(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"name": "x"}', "utf-8")
    assert "line 1" in call("sequence", str(path), code=2).stderr
