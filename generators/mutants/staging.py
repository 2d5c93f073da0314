"""A copy of the project in which mutmut can work.

mutmut names a mutant after the path of its file, so the folders must lie as they are imported,
`src/doneness/machine` and so on. Only what has changed is copied anew, and mutmut's own records in
the copy are left alone: that is what makes the campaign resumable.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

FOLDERS: Final = {
    "diagrams": "diagrams",
    "fixtures": "fixtures",
    "generators": "generators",
    "machine": "machine",
    "spec": "spec",
    "tests/contract": "contract",
}

# Left out: what counts calls or lines, since mutmut puts calls of its own around each function.
CONFIGURATION: Final = """\
[tool.mutmut]
paths_to_mutate = ["src/doneness/machine"]
pytest_add_cli_args_test_selection = ["tests"]
also_copy = ["src/doneness"]
pytest_add_cli_args = ["-m", "model", "-p", "no:cacheprovider", "--model-seed", "1", "-x",
    "--deselect=tests/test_machine_parts.py::test_the_part_does_what_it_should[costs]",
    "--deselect=tests/test_machine_parts.py::test_the_part_does_what_it_should[interrupts]"]

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = ["--import-mode=importlib"]
markers = ["model: checks a reducer against the declared contract", "slow: some seconds"]
"""


def stage(root: Path, target: Path) -> None:
    """Copy the project below `root` into `target`."""
    for folder, name in FOLDERS.items():
        _copy(root / folder, target / "src" / "doneness" / name)
    _copy(root / "tests" / "contract", target / "tests" / "contract")
    (target / "tests" / "test_machine_parts.py").write_bytes(
        (root / "tests" / "test_machine_parts.py").read_bytes()
    )
    _write(target / "pyproject.toml", CONFIGURATION.encode())


def _copy(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            _write(target / path.relative_to(source), path.read_bytes())
    for path in list(target.rglob("*")):
        if path.is_file() and not (source / path.relative_to(target)).exists():
            path.unlink()


def _write(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    stage(Path.cwd(), Path(sys.argv[1]))
