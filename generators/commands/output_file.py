"""A file that a command will write at its end: what cannot be is refused before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

import click


class OutputFile(click.Path):
    """A path to write to; the folders that lead there are made.

    Raises:
        click.BadParameter: it is a folder, or nothing can be written there.
    """

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """The path, in a folder that exists."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.fail(f"{path.parent} cannot be a folder: {error.strerror}", param, ctx)
        return path
