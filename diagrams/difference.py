"""What changed in the declared machines since another revision, drawn in one picture.

The other revision's `spec` is taken out of git into a temporary folder and read there by a process
of its own, since two modules of one name do not fit into one. It is read by the extraction of
*this* revision.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

import doneness.spec
from doneness.diagrams import extract
from doneness.diagrams.drawing import Mark
from doneness.diagrams.model import Arrow, Chart, Place
from doneness.diagrams.overlay import Note, Overlay

_READ = """
import importlib.util, runpy, sys
spec, extraction = sys.argv[1:]
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "doneness.spec":
            return importlib.util.spec_from_file_location(
                name, spec + "/__init__.py", submodule_search_locations=[spec]
            )
sys.meta_path.insert(0, Finder)
runpy.run_path(extraction, run_name="__main__")
"""


SIGNS = (
    "+ added (strong line), − removed (dashed), ~ changed (strong: now, dashed: before). "
    "Pale: as before."
)


class RevisionError(Exception):
    """The declarations of another revision cannot be read."""


def charts_of(revision: str, folder: Path | None = None) -> dict[str, Chart]:
    """The declared machines of another revision.

    Args:
        revision: What git takes for a commit: a branch, a tag, `HEAD~1`.
        folder: The folder of the declarations; default: where `doneness.spec` lies.

    Raises:
        RevisionError: there is no such revision, or it has no declarations that can be read.
    """
    folder = folder or Path(next(iter(doneness.spec.__path__)))
    commit = _commit(folder, revision)
    if b"table.py" not in _git(folder, "ls-tree", "--name-only", commit, "--", ".").split():
        return {}  # before anything was declared
    archive = _git(folder, "archive", "--format=tar", commit)
    with tempfile.TemporaryDirectory(prefix="doneness-") as place:
        _unpack(archive, Path(place))
        # Our own interpreter and extraction; the declarations are the repository's own code.
        run = subprocess.run(  # noqa: S603
            [sys.executable, "-c", _READ, place, str(extract.__file__)],
            capture_output=True,
            check=False,
        )
    if run.returncode != 0:
        reason = run.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise RevisionError(f"the declarations of {revision} cannot be read: {' '.join(reason)}")
    return msgspec.json.decode(run.stdout, type=dict[str, Chart])


def _unpack(archive: bytes, place: Path) -> None:
    """Write the plain files of an archive; git lets no name lead out of the folder."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            content = files.extractfile(member) if member.isfile() else None
            if content is not None:
                path = place / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


def _commit(folder: Path, revision: str) -> str:
    found = _git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    return found.decode().strip()


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        # git is looked up on the path like any tool of the developer's.
        run = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise RevisionError("there is no git here, and a revision is read with it") from None
    if run.returncode != 0:
        if b"not a git repository" in run.stderr.lower():
            raise RevisionError(
                f"{folder} is not a git repository, and a revision is read from one"
            )
        detail = run.stderr.decode(errors="replace").strip().splitlines()
        raise RevisionError(
            detail[0] if detail else f"git knows no revision {arguments[-1].split('^')[0]!r}"
        )
    return run.stdout


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two charts of one machine.

    Attributes:
        chart: Both, laid over each other.
        notes: The arrows that are new, gone or changed.
        marks: The states that are.
    """

    chart: Chart
    notes: Mapping[Arrow, Note]
    marks: Mapping[str, Mark]

    def __bool__(self) -> bool:
        return bool(self.notes or self.marks)

    def overlay(self, revision: str) -> Overlay:
        """How it is drawn."""
        counts = dict.fromkeys((Mark.ADDED, Mark.REMOVED, Mark.CHANGED), 0)
        for note in self.notes.values():
            if note.mark in counts:  # a change may be two arrows, of which one counts
                counts[note.mark] += 1
        summary = ", ".join(f"{count} {mark}" for mark, count in counts.items())
        states = ", ".join(f"{name} {mark}" for name, mark in self.marks.items())
        return Overlay(
            notes=self.notes,
            rest=Note(pale=True),
            marks=self.marks,
            pale=True,
            legend=(
                f"Since {revision}: transitions {summary}"
                + (f"; states: {states}." if states else "."),
                SIGNS,
            ),
        )


def compare(old: Chart | None, new: Chart | None) -> Difference:
    """Two charts of one machine, laid over each other; one of them may be missing."""
    base = new or old
    if base is None:
        raise ValueError("there is nothing to compare")
    before = old or msgspec.structs.replace(base, places=(), arrows=(), triggers=())
    after = new or msgspec.structs.replace(base, places=(), arrows=(), triggers=())
    return Difference(
        chart=msgspec.structs.replace(
            base,
            places=tuple(_united(after.places, before.places)),
            triggers=tuple(dict.fromkeys((*after.triggers, *before.triggers))),
            arrows=tuple(dict.fromkeys((*after.arrows, *before.arrows))),
        ),
        notes=dict(_arrows(before.arrows, after.arrows)),
        marks=dict(_places(before, after)),
    )


def _united(after: Iterable[Place], before: Iterable[Place]) -> Iterator[Place]:
    names = set()
    for place in (*after, *before):
        if place.name not in names:
            names.add(place.name)
            yield place


def _places(before: Chart, after: Chart) -> Iterator[tuple[str, Mark]]:
    old = {place.name: place for place in before.places}
    new = {place.name: place for place in after.places}
    for name in dict.fromkeys((*new, *old)):
        if name not in old:
            yield name, Mark.ADDED
        elif name not in new:
            yield name, Mark.REMOVED
        elif _essence(old[name]) != _essence(new[name]):
            yield name, Mark.CHANGED


def _essence(place: Place) -> Place:
    return msgspec.structs.replace(place, meaning="")


def _arrows(before: tuple[Arrow, ...], after: tuple[Arrow, ...]) -> Iterator[tuple[Arrow, Note]]:
    gone = [arrow for arrow in before if arrow not in set(after)]
    for arrow in after:
        if arrow in set(before):
            continue
        was = _was(arrow, gone)
        if was is None:
            yield arrow, Note(Mark.ADDED)
        else:
            gone.remove(was)
            yield arrow, Note(Mark.CHANGED, after=_effects(was, arrow))
            if (was.target, was.refused, was.guards, was.otherwise) != (
                arrow.target,
                arrow.refused,
                arrow.guards,
                arrow.otherwise,
            ):
                yield was, Note(Mark.BEFORE)
    for arrow in gone:
        yield arrow, Note(Mark.REMOVED)


def _was(arrow: Arrow, gone: Iterable[Arrow]) -> Arrow | None:
    """What an arrow was before: one of the same state and trigger, the likest."""
    pair = [a for a in gone if (a.source, a.trigger) == (arrow.source, arrow.trigger)]
    return max(
        pair,
        key=lambda a: (
            (a.target, a.refused) == (arrow.target, arrow.refused),
            (a.guards, a.otherwise) == (arrow.guards, arrow.otherwise),
        ),
        default=None,
    )


def _effects(was: Arrow, now: Arrow) -> str:
    """What changed beside the target and the condition."""
    if was.effects == now.effects:
        return ""
    return f" (effects: {', '.join(was.effects) or 'none'} → {', '.join(now.effects) or 'none'})"


def differences(old: Mapping[str, Chart], new: Mapping[str, Chart]) -> dict[str, Difference]:
    """The machines that differ, by name."""
    found = {name: compare(old.get(name), new.get(name)) for name in dict.fromkeys((*new, *old))}
    return {name: difference for name, difference in found.items() if difference}
