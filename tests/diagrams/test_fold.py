"""A folded picture says exactly what the table says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doneness.diagrams import extract, mermaid
from doneness.diagrams.drawing import Shape
from doneness.diagrams.fold import ANY, fold, lift, members
from doneness.diagrams.layout import LAYOUTS
from doneness.diagrams.words import said, wrapped

CHARTS = extract.charts()
EACH = pytest.mark.parametrize("chart", CHARTS.values(), ids=lambda chart: chart.name)
FULL = pytest.mark.parametrize("full", [False, True], ids=["folded", "full"])


def test_every_declaration_is_found():
    assert {"lifecycle", "toolcall", "evidence"} <= CHARTS.keys()


@EACH
@FULL
def test_a_lifted_arrow_stands_for_what_its_members_do(chart, full):
    """Unfolding gives back every arrow, and a group's box promises nothing that is not declared."""
    arrows = [arrow for arrow in chart.arrows if full or arrow.moves]
    lifted = lift(chart, arrows)
    assert sorted(map(str, arrows)) == sorted(str(a) for stands in lifted.values() for a in stands)
    for arrow, stands in lifted.items():
        if not arrow.source.startswith(ANY):
            assert stands == (arrow,)
            continue
        excepted = {g.removeprefix("not in ") for g in arrow.guards if g.startswith("not in ")}
        for name in members(chart, arrow.source):
            if name in excepted:
                continue
            target = name if arrow.target == arrow.source else arrow.target
            assert any(
                (a.trigger, a.target, a.refused) == (arrow.trigger, target, arrow.refused)
                for a in chart.arrows
                if a.source == name
            ), f"{name} does not do what {arrow.source} says on {arrow.trigger}"


@EACH
@FULL
def test_parallel_arrows_share_one_edge(chart, full):
    edges = [(e.source, e.target, e.refused) for e in fold(chart, full=full).edges]
    assert len(edges) == len(set(edges))


@EACH
def test_loops_and_refusals_are_drawn_in_full_only(chart):
    folded, full = fold(chart), fold(chart, full=True)
    assert not any(edge.refused or edge.source == edge.target for edge in folded.edges)
    assert not any(node.shape is Shape.ISSUE for node in folded.nodes)
    refused = {(a.source, a.trigger) for a in chart.arrows if a.refused}
    if refused:
        assert any("refused" in sentence for sentence in folded.legend)
        assert any(edge.refused for edge in full.edges)
    stays = [a for a in chart.arrows if not a.refused and a.source == a.target]
    if stays:
        assert any(sentence.startswith("Moves nothing") for sentence in folded.legend)
        loops = any(edge.source == edge.target for edge in full.edges)
        assert loops or any(node.within for node in full.nodes)


@EACH
def test_every_guard_of_a_move_is_on_an_edge(chart):
    words = " ".join(phrase for edge in fold(chart).edges for phrase in edge.phrases)
    for arrow in chart.arrows:
        if arrow.moves:
            assert all(guard in words for guard in arrow.guards)


def test_hidden_states_say_what_they_show_and_final_ones_are_marked():
    nodes = {node.name: node for node in fold(CHARTS["lifecycle"]).nodes}
    assert nodes["approval_pending"].shows == nodes["paused"].shows == "waiting"
    assert nodes["cut"].shows == "unknown"
    assert nodes["running"].shows is None
    assert nodes["approval_pending"].group == "live"
    assert nodes["paused"].group == "ended"
    assert {name for name, node in nodes.items() if node.final} == {
        place.name for place in CHARTS["lifecycle"].places if place.final
    }


@pytest.mark.parametrize("name", LAYOUTS)
def test_hints_name_states_that_there_are(name):
    there = {place.name for place in CHARTS[name].places}
    there |= {f"{ANY}{group}" for group in CHARTS[name].groups()}
    hinted = [state for column in LAYOUTS[name].columns for state in column]
    assert len(hinted) == len(set(hinted))
    assert set(hinted) <= there


@EACH
@given(data=st.data())
def test_few_words_say_exactly_these_triggers(chart, data):
    """`tool.*` and `anything but eof` mean the triggers that they were made from."""
    triggers = data.draw(st.sets(st.sampled_from(chart.triggers), min_size=1))
    assert {t for word in said(triggers, chart.triggers) for t in meant(word, chart)} == triggers


def meant(word, chart):
    """The triggers that a word means, read the other way round."""
    if word.startswith("anything"):
        return set(chart.triggers) - {word.removeprefix("anything but ")}
    if word.endswith("*"):
        return {trigger for trigger in chart.triggers if trigger.startswith(word[:-1])}
    return {word}


@given(st.text("ab./ [],", min_size=1), st.integers(1, 30))
def test_wrapping_loses_no_words(phrase, characters_max):
    lines = wrapped(phrase, characters_max)
    assert "".join("".join(lines).split()) == "".join(phrase.split())


@EACH
@FULL
def test_mermaid_says_the_same_edges(chart, full):
    drawing = fold(chart, full=full)
    lines = [line.strip() for line in mermaid.source([drawing]).splitlines()]
    arrows = [line for line in lines if "-->" in line and "[*]" not in line]
    assert len(arrows) == len(drawing.edges)
    assert sum("[*] -->" in line for line in lines) == 1
    assert sum("--> [*]" in line for line in lines) == sum(node.final for node in drawing.nodes)
