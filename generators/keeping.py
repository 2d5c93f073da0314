"""Cases that are kept: what they must show comes from the declaration, never from a reducer.

A stream on which a reducer went wrong is worth more than the repair: kept as a case, it is
replayed by the ordinary tests for ever.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from doneness.fixtures.cases import EOF, Case, CaseError, every, load
from doneness.generators.checks.sharing import in_company
from doneness.generators.classify import Declared, declared, moves
from doneness.generators.divergence import Divergence, compare, compare_at_end
from doneness.generators.subject import Subject
from doneness.machine.replaying.recordings import EOF as FED_EOF
from doneness.machine.replaying.recordings import Fed
from doneness.machine.replaying.views import described
from doneness.machine.visible import padded, width

KEPT: Final = "kept"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")

_COPIED: Final = ("silent", "source", "kill", "found_by", "subject", "shown_steps")


def project_folder() -> Path | None:
    """The folder of kept cases, where the project is used from its sources; else None.

    In an installed wheel the packaged folder belongs to the installation, and in a strict editable
    installation it is a copy: nothing that is written there would be kept.
    """
    package = Path(str(files("doneness.fixtures")))
    is_source = (package.parent / "pyproject.toml").is_file() and package.name == "fixtures"
    return package / KEPT if is_source else None


def in_folder(folder: Path) -> list[Case]:
    """The cases of a folder, file by file.

    Raises:
        CaseError: a file is not what the format says.
    """
    return [case for file in sorted(folder.glob("*.json")) for case in load(file)]


@dataclass(frozen=True, slots=True)
class Keeping:
    """A case on its way to be kept, with what the declaration says of it."""

    case: Case
    said: Sequence[Declared]
    name: str
    reason: str

    @classmethod
    def of(cls, case: Case, name: str | None, reason: str | None) -> Keeping:
        """Ask the declaration.

        Raises:
            CaseError: the name or the reason will not do.
        """
        name = name or case.name
        reason = (reason or case.reason).strip()
        if not NAME.fullmatch(name):
            expected = "small letters, digits, - and _, at most 80"
            raise CaseError(
                case.file, f"the name {name!a} will not do: expected {expected} (--name)"
            )
        if not reason or "\n" in reason:
            raise CaseError(case.file, "expected a reason, one line: why is it kept? (--reason)")
        return cls(case, declared(case.run, [*case.events, EOF]), name, reason)

    @property
    def expected(self) -> list[str]:
        """The status after each event, and after one more EOF."""
        return [str(said.status) for said in self.said]

    def table(self) -> str:
        """The stream with what is declared of it, numbered; where the file says otherwise, too."""
        expected = [*(self.case.expected_steps or ()), self.case.expected_final]
        rows = [("#", "event", "declared", "issues", "")]
        for number, event in enumerate([*self.case.events, EOF], 1):
            said = self.said[number - 1]
            before = expected[number - 1] if number <= len(expected) else None
            rows.append(
                (
                    str(number) if number <= len(self.case.events) else "end",
                    described(FED_EOF if event is EOF else Fed(event), self.case.run),
                    str(said.status),
                    ", ".join(map(str, _issues(said))) or "-",
                    "" if before in (None, said.status) else f"!= {before} in the file",
                )
            )
        return columns(rows)

    def members(self) -> dict[str, Any]:
        """The case as it is kept."""
        said = {
            name: value for name, value in self.said[-1].observables.items() if name != "status"
        }
        copied = {name: getattr(self.case, name) for name in _COPIED}
        return {
            "name": self.name,
            "reason": self.reason,
            **{name: value for name, value in copied.items() if value},
            "run": self.case.run,
            "events": list(self.case.events),
            "expected_steps": self.expected[:-1],
            "expected_final": self.expected[-1],
            "assertions": said,
        }

    def write(self, folder: Path) -> Path:
        """Write the case into a folder, under its name.

        Raises:
            CaseError: there is one of that name, here or in the project, or it cannot be written.
        """
        path = folder / f"{self.name}.json"
        taken = {case.name: case.file for case in every()}
        if path.exists() or self.name in taken:
            where = path if path.exists() else taken[self.name]
            raise CaseError(str(where), "there is a case of this name: choose another (--name)")
        try:
            text = written(self.members())
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except (OSError, ValueError) as error:
            raise CaseError(str(path), str(error)) from None
        return path


def written(members: Mapping[str, object]) -> str:
    """A case as JSON text in ASCII: a key a line, an event a line."""
    lines = []
    for key, value in members.items():
        text = json.dumps(value)
        if key == "events" and isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        lines.append(f" {json.dumps(key)}: {text}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").replace("\x7f", "\\u007f")


def stale(case: Case) -> list[str]:
    """Where a case expects something else than the declaration says now."""
    said = declared(case.run, [*case.events, EOF])
    expected = [*(case.expected_steps or [None] * len(case.events)), case.expected_final]
    found = [
        f"step {number}: the case expects {before}, the declaration says {now.status}"
        for number, (before, now) in enumerate(zip(expected, said, strict=True), 1)
        if before not in (None, now.status)
    ]
    found += [
        f"{name}: the case expects {json.dumps(value)}, "
        f"the declaration says {json.dumps(said[-1].observables[name])}"
        for name, value in case.assertions.items()
        if said[-1].observables[name] != value
    ]
    return found


def tried(case: Case, subject: Subject) -> Divergence | None:
    """Run a case on a subject, fed as when it was found; where they differ, if they do."""
    read = moves(case.run, [*case.events, EOF])
    fed = in_company(subject, case.found_by) or subject
    check = f"case {case.name}"
    found = compare(fed, check, case.run, read)
    return found or compare_at_end(fed, check, case.run, read[:-1])


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Rows of visible texts, in columns."""
    rows = list(rows)
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(padded(*cell) for cell in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _issues(said: Declared) -> list[object]:
    issues = said.observables["issues"]
    return issues if isinstance(issues, list) else []
