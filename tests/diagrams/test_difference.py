"""What changed since another revision of git, with a real repository."""

import shutil
import subprocess
from pathlib import Path

import pytest

import doneness.spec
from doneness.diagrams import difference, extract
from doneness.diagrams.drawing import Mark
from doneness.diagrams.fold import fold

SPEC = Path(next(iter(doneness.spec.__path__)))
NOW = extract.charts()

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path):
    """A repository with our declarations, committed."""
    folder = tmp_path / "spec"
    shutil.copytree(SPEC, folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return folder


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def commit(folder):
    git(folder, "add", "-A")
    names = ("-c", "user.name=tests", "-c", "user.email=tests@localhost")
    git(folder, *names, "commit", "-q", "--allow-empty", "-m", "x")


def change(folder, old, new):
    path = folder / "lifecycle.py"
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_the_same_declarations_do_not_differ(repository):
    then = difference.charts_of("HEAD", repository)
    assert then == NOW
    assert difference.differences(then, NOW) == {}


def test_another_revision_is_read_and_not_this_one(repository):
    change(repository, "Row((PAUSES,), LIVE, PAUSED,", "Row((PAUSES,), LIVE, CANCELLED,")
    commit(repository.parent)
    then = difference.charts_of("HEAD", repository)
    assert difference.charts_of("HEAD~1", repository) == NOW
    found = difference.differences(then, NOW)
    assert list(found) == ["lifecycle"]
    notes = found["lifecycle"].notes
    changed = {(a.source, a.target) for a, note in notes.items() if note.mark is Mark.CHANGED}
    before = {(a.source, a.target) for a, note in notes.items() if note.mark is Mark.BEFORE}
    live = NOW["lifecycle"].groups()["live"]
    assert changed == {(state, "paused") for state in live}
    assert before == {(state, "cancelled") for state in live}
    edges = fold(found["lifecycle"].chart, found["lifecycle"].overlay("HEAD")).edges
    assert [e.phrases for e in edges if e.mark is Mark.CHANGED] == [("~ run.ended/paused",)]
    assert [e.phrases for e in edges if e.mark is Mark.BEFORE] == [("~ was: run.ended/paused",)]


@pytest.mark.parametrize(
    ("old", "new", "mark"),
    [
        pytest.param('"calls_settled", "not waiting"', '"not waiting"', Mark.CHANGED, id="a guard"),
        pytest.param("Row((FAILS,), LIVE,", "Row((FAILS,), LIVE[1:],", Mark.ADDED, id="a source"),
        pytest.param(
            "ROWS = (",
            "ROWS = (Row((CHECKED_OK,), (RUNNING,), DONE, ('closed',)),",
            Mark.REMOVED,
            id="a row",
        ),
        pytest.param('"append_text",)', '"append_text", "wait")', Mark.CHANGED, id="an effect"),
    ],
)
def test_each_kind_of_change_is_marked(repository, old, new, mark):
    """The change is in the other revision, so what it takes away is what was added since."""
    change(repository, old, new)
    commit(repository.parent)
    found = difference.differences(difference.charts_of("HEAD", repository), NOW)["lifecycle"]
    marks = {note.mark for note in found.notes.values()} - {Mark.BEFORE}
    assert marks == {mark}
    drawing = fold(found.chart, found.overlay("HEAD"))
    words = [phrase for edge in drawing.edges for phrase in edge.phrases]
    words += [phrase for node in drawing.nodes for phrase in node.within]
    assert any(phrase.startswith(mark.sign) for phrase in words)
    assert any(thing.mark is mark for thing in (*drawing.edges, *drawing.nodes))


def test_a_state_that_is_new_is_marked():
    chart = NOW["toolcall"]
    then = difference.compare(
        type(chart)(
            chart.name,
            chart.title,
            chart.initial,
            chart.places[:-1],
            chart.triggers,
            tuple(a for a in chart.arrows if chart.places[-1].name not in {a.source, a.target}),
        ),
        chart,
    )
    assert then.marks == {chart.places[-1].name: Mark.ADDED}
    assert {note.mark for note in then.notes.values()} == {Mark.ADDED}


def test_a_whole_machine_may_be_new_or_gone():
    chart = NOW["toolcall"]
    assert {n.mark for n in difference.compare(None, chart).notes.values()} == {Mark.ADDED}
    assert {n.mark for n in difference.compare(chart, None).notes.values()} == {Mark.REMOVED}


def test_before_anything_was_declared_there_were_no_machines(repository):
    shutil.rmtree(repository)
    repository.mkdir()
    (repository / "__init__.py").touch()
    commit(repository.parent)
    assert difference.charts_of("HEAD", repository) == {}


def test_outside_of_a_repository_the_reason_is_said(tmp_path):
    with pytest.raises(difference.RevisionError, match="not a git repository"):
        difference.charts_of("HEAD", tmp_path)


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "HEAD:spec"])
def test_what_is_no_revision_is_refused(repository, revision):
    with pytest.raises(difference.RevisionError):
        difference.charts_of(revision, repository)


def test_declarations_that_cannot_be_read_are_a_clear_error(repository):
    (repository / "lifecycle.py").write_text("syntax error", "utf-8")
    commit(repository.parent)
    with pytest.raises(difference.RevisionError, match=r"cannot be read: .*SyntaxError"):
        difference.charts_of("HEAD", repository)
