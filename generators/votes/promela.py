"""The guarded commands as Promela, and SPIN's vote on them.

One process, one loop, one option a command; a round of the loop is one step, so SPIN stores
exactly the joint states. A property of a step is an assertion at its end that compares with
hidden copies of the variables, which are no part of the state. That a contradiction stays
shown is also asked in linear temporal logic.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from doneness.generators.votes.properties import INITIAL, Property, Vote
from doneness.generators.votes.system import (
    NO,
    SHOWS_DONE,
    VARIABLES,
    YES,
    Command,
    Guard,
)

PROGRAMS: Final = ("spin", "gcc")
_SECONDS_MAX: Final = 120


class SpinError(RuntimeError):
    """SPIN, or the compiler of what it generates, failed; the message has their words."""


def missing() -> list[str]:
    """What is needed and not there: programs, and the C library's headers."""
    programs = [program for program in PROGRAMS if shutil.which(program) is None]
    return programs or ([] if _has_headers() else ["the headers of the C library"])


def _has_headers() -> bool:
    """Whether the compiler finds its headers; Debian's gcc comes without them."""
    done = subprocess.run(  # noqa: S603 # the program by its full path, the arguments are ours
        [str(shutil.which("gcc")), "-E", "-"],
        input=b"#include <stdio.h>\n",
        capture_output=True,
        check=False,
        timeout=_SECONDS_MAX,
    )
    return done.returncode == 0


def vote(commands: Sequence[Command], properties: Sequence[Property], folder: Path) -> Vote:
    """Count the states, and judge each property.

    All properties are asserted in one run. SPIN stops at the first that is broken; then the others
    are asked again without it.

    Args:
        commands: The guarded commands.
        properties: What to judge.
        folder: Where SPIN may write.

    Raises:
        SpinError: SPIN failed.
    """
    count = _verified(model(commands), folder / "count")
    verdicts: dict[str, bool] = {}
    left = list(properties)
    while left:
        found = _verified(model(commands, left), folder / f"{len(left)}")
        if found.broken is None:
            verdicts |= {one.name: True for one in left}
            break
        verdicts[left.pop(found.broken).name] = False
    return Vote("SPIN", count.states, verdicts)


def contradiction_is_shown_for_good(commands: Sequence[Command], folder: Path) -> bool:
    """Whether, in temporal logic, done is never shown again once there is a contradiction."""
    text = model(commands) + (
        "\n#define done_is_shown (contradicted == no && ("
        + " || ".join(f"state == {_constant('state', value)}" for value in sorted(SHOWS_DONE))
        + "))\nltl for_good { [] ((contradicted == yes) -> [] (!done_is_shown)) }\n"
    )
    return not _verified(text, folder / "temporal", temporal=True).errors


def model(commands: Sequence[Command], properties: Sequence[Property] = ()) -> str:
    """The Promela model: the commands, with the properties asserted after each."""
    lines = ["/* Made from the declared tables; the values of each variable, by number. */"]
    for name, values in VARIABLES.items():
        if values != (NO, YES):
            lines += [
                f"#define {_constant(name, value)} {code}" for code, value in enumerate(values)
            ]
    lines += ["#define no 0", "#define yes 1", ""]
    for name, values in VARIABLES.items():
        kind = "bit" if values == (NO, YES) else "byte"
        lines.append(f"{kind} {name} = {_constant(name, INITIAL[name])};")
    lines += [f"hidden byte before_{name};" for name in VARIABLES]
    lines += ["", "active proctype life() {"]
    lines += [
        f"  {_asserted(number, one)}" for number, one in enumerate(properties) if one.is_invariant
    ]
    lines += ["end:", "  do", "  :: atomic {", "    if"]
    for command in commands:
        lines.append(f"    :: d_step {{ /* {command.name} */ {_fits('', command.guard)};")
        lines += [f"        before_{name} = {name};" for name in VARIABLES if properties]
        lines += [
            f"        {name} = {_constant(name, value)};" for name, value in command.updates.items()
        ]
        lines += ["        skip }"]
    lines += ["    fi;"]
    lines += [f"    {_asserted(number, one)}" for number, one in enumerate(properties)]
    lines += ["    skip }", "  od", "}", ""]
    return "\n".join(lines)


def _asserted(number: int, one: Property) -> str:
    """An assertion that can be told by its number in what SPIN says."""
    asked = f"{_fits('before_', one.before)} && {_fits('', one.if_after)}"
    return f"assert(({number} != 999) && (!({asked}) || {_fits('', one.then_after)}));"


def _fits(prefix: str, guard: Guard) -> str:
    """A guard as an expression; whichever of the value sets is shorter is written out."""
    terms = []
    for name, values in guard.items():
        others = [value for value in VARIABLES[name] if value not in values]
        if len(others) < len(values):
            terms += [f"{prefix}{name} != {_constant(name, value)}" for value in others]
        else:
            wanted = [value for value in VARIABLES[name] if value in values]
            one_of = " || ".join(f"{prefix}{name} == {_constant(name, value)}" for value in wanted)
            terms.append(f"({one_of})")
    return f"({' && '.join(terms) or 'true'})"


def _constant(name: str, value: str) -> str:
    return value if VARIABLES[name] == (NO, YES) else f"{name}_{value}"


class _Found(NamedTuple):
    """What SPIN found: states stored, errors, and the number of the assertion that broke."""

    states: int
    errors: int
    broken: int | None


def _verified(text: str, folder: Path, *, temporal: bool = False) -> _Found:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pml").write_text(text, "utf-8")
    # -o2: SPIN would drop a variable that nothing reads, and merge the states it tells apart.
    _run(folder, "spin", "-o2", "-a", "model.pml")
    flags = ["-DNOREDUCE"] if temporal else ["-DNOREDUCE", "-DSAFETY", "-DNOCLAIM"]
    _run(folder, "gcc", "-O0", "-w", *flags, "-o", "pan", "pan.c")
    said = _run(folder, "./pan", *(["-a"] if temporal else []), "-m100000")
    states = re.search(r"(\d+) states, stored", said)
    errors = re.search(r"errors: (\d+)", said)
    if not (states and errors) or "max search depth too small" in said:
        raise SpinError(f"SPIN came to no end: {said.strip()[-500:]}")
    broken = re.search(r"assertion violated \D*(\d+)!=999", said)
    if "assertion violated" in said and not (broken or temporal):
        raise SpinError(f"SPIN broke an assertion that has no number: {said.strip()[-500:]}")
    return _Found(int(states[1]), int(errors[1]), int(broken[1]) if broken else None)


def _run(folder: Path, program: str, *arguments: str) -> str:
    path = folder / program if program.startswith("./") else shutil.which(program)
    if path is None:
        raise SpinError(f"{program} is not installed")
    done = subprocess.run(  # noqa: S603 # the program by its full path, the arguments are ours
        [str(path), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS_MAX,
        check=False,
    )
    if done.returncode:
        raise SpinError(f"{program} failed: {(done.stdout + done.stderr).strip()[-500:]}")
    return done.stdout
