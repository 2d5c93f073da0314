"""How often each pair was exercised, on the diagram."""

import json

import pytest

from doneness.diagrams import coverage, extract
from doneness.diagrams.drawing import Mark
from doneness.diagrams.fold import fold

TOOL_CALL = extract.charts()["toolcall"]
ALL = {f"{place.name}|{trigger}": 1 for place in TOOL_CALL.places for trigger in TOOL_CALL.triggers}


def edges(counts):
    drawing = fold(TOOL_CALL, coverage.exercised(TOOL_CALL, counts))
    return {(edge.source, edge.target): edge for edge in drawing.edges}, drawing.legend


def test_what_was_exercised_more_often_is_wider_and_says_how_often():
    drawn, legend = edges({**ALL, "running|tool.finished": 1000})
    often, once = drawn["running", "returned"], drawn["running", "failed"]
    assert often.phrases == ("tool.finished ×1,000",)
    assert once.phrases == ("tool.failed ×1",)
    assert often.width > once.width
    assert "20 of 20 pairs" in legend[0]
    assert "Never" not in legend[0]


def test_what_was_never_exercised_is_marked_and_named():
    drawn, legend = edges({pair: n for pair, n in ALL.items() if pair != "running|tool.failed"})
    assert drawn["running", "failed"].mark is Mark.MISSED
    assert drawn["running", "returned"].mark is Mark.NONE
    assert "19 of 20" in legend[0]
    assert legend[0].endswith("Never: running|tool.failed.")


def test_a_pair_that_is_not_declared_is_refused():
    with pytest.raises(coverage.CoverageError, match=r"names running\|never"):
        edges({**ALL, "running|never": 1})


def test_a_group_of_which_one_was_never_exercised_says_so():
    chart = extract.charts()["lifecycle"]
    counts = {f"{a.source}|{a.trigger}": 2 for a in chart.arrows if a.source != "recovered"}
    drawing = fold(chart, coverage.exercised(chart, counts))
    words = [phrase for edge in drawing.edges for phrase in edge.phrases]
    assert "run.ended/paused ×8 (1 never)" in words


@pytest.mark.parametrize("content", ["", "[]", '{"toolcall": {"a|b": "x"}}', '{"toolcall": 1}'])
def test_a_file_of_another_form_is_refused(tmp_path, content):
    path = tmp_path / "coverage.json"
    path.write_text(content, "utf-8")
    with pytest.raises(coverage.CoverageError, match="no coverage file"):
        coverage.read(path)


def test_a_file_is_read(tmp_path):
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"toolcall": ALL}), "utf-8")
    assert coverage.read(path) == {"toolcall": ALL}
