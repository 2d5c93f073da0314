"""The wheel: exactly the tracked files, and everything works far from the sources."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
pytestmark = pytest.mark.slow


def tracked() -> set[str]:
    """The tracked files of the packages, under their names in the wheel."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *FOLDERS.values()], cwd=ROOT, capture_output=True, check=True
    )
    names = set()
    for name in listed.stdout.decode().split("\0")[:-1]:
        package, folder = next(
            (package, folder)
            for package, folder in FOLDERS.items()
            if name.startswith(f"{folder}/")
        )
        names.add(package.replace(".", "/") + name.removeprefix(folder))
    return {name for name in names if not name.endswith("/.gitkeep")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a clean copy of the tracked files."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(source)], check=True)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_holds_exactly_the_tracked_files(wheel: Path) -> None:
    """A package that is not listed would silently be lost from it."""
    held = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    committed = subprocess.run(
        ["git", "status", "--porcelain", *FOLDERS.values()],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    if committed.stdout:
        pytest.skip("the working tree has changes: the wheel is built from the last commit")
    assert sorted(held - tracked()) == []
    assert sorted(name for name in tracked() - held if not name.endswith("/.gitkeep")) == []


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with nothing but the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "-c", str(ROOT / "requirements.lock")]
    subprocess.run([*pip, str(wheel)], check=True)
    return folder


def run(elsewhere: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the new environment in an empty folder."""
    program, *rest = arguments
    empty = elsewhere / "empty"
    empty.mkdir(exist_ok=True)
    command = [str(elsewhere / "env" / "bin" / program), *rest]
    return subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False)


def test_the_command_and_the_types_are_there(elsewhere: Path) -> None:
    """`doneness` runs, and a type checker finds the marker."""
    assert run(elsewhere, "doneness", "--version").returncode == 0
    code = (
        "from importlib.resources import files\n"
        "print((files('doneness.machine') / 'py.typed').is_file())"
    )
    assert run(elsewhere, "python", "-c", code).stdout.strip() == "True"


def test_the_contract_runs_on_a_reducer_of_a_project_elsewhere(elsewhere: Path) -> None:
    """`pytest --pyargs doneness.contract -m model` needs no copy of our tests."""
    done = run(
        elsewhere, "pytest", "--pyargs", "doneness.contract", "-m", "model", "-k", "p8 or evidence"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "repeat with" in done.stdout


def test_cases_are_replayed_and_kept_elsewhere(elsewhere: Path) -> None:
    """The wheel carries the cases; it has no folder to keep new ones in, and says so."""
    done = run(elsewhere, "doneness", "replay", "all")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" 0 not as expected\n")
    case = elsewhere / "empty" / "case.json"
    case.write_text('{"name": "n", "run": "r", "events": [null], "reason": "w"}')
    keep = ("doneness", "fixture", "keep", "case.json")
    refused = run(elsewhere, *keep)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--into" in refused.stderr
    assert run(elsewhere, *keep, "--into", "kept").returncode == 0
    assert run(elsewhere, "doneness", "fixture", "run", "kept/n.json").returncode == 0


def test_a_folder_is_not_a_second_module() -> None:
    """`import spec` from the repository would make a second, unequal set of everything."""
    for name in ("spec", "machine", "generators", "diagrams", "fixtures"):
        done = subprocess.run(
            [sys.executable, "-c", f"import {name}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"import this package as doneness.{name}" in done.stderr
