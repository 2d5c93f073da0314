"""The command `doneness`: a group whose subcommands are found, not listed.

Every package of the project (and any other installed one) declares its subcommands under the
entry-point group `doneness.commands`; so the machine never imports the checks or the diagrams,
and a subcommand that is not called costs nothing.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import click

from doneness.machine.commands.bad_input import BadInputError
from doneness.machine.visible import visible


def _declared() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="doneness.commands")}


class Commands(click.Group):
    """A click group over the entry points `doneness.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All declared subcommands, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *_declared()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the one subcommand that was asked for."""
        entry = _declared().get(cmd_name)
        return entry.load() if entry else super().get_command(ctx, cmd_name)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run; a stream that was closed counts as empty, a full disk gets one line."""
        sys.stdin = sys.stdin or _nothing("r")
        sys.stdout = sys.stdout or _nothing("w")
        sys.stderr = sys.stderr or _nothing("w")
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            _drop_what_is_unwritten()
            BadInputError(visible(_explained(error))).show()
            sys.exit(BadInputError.exit_code)


def _explained(error: OSError) -> str:
    what = f"cannot use {error.filename}: " if error.filename is not None else ""
    return f"{what}{error.strerror or error}"


def _nothing(mode: str) -> Any:
    return Path(os.devnull).open(mode, encoding="utf-8")


def _drop_what_is_unwritten() -> None:
    """What could not be written is still in the buffer, and would fail again at exit."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="doneness")
def main() -> None:
    """When may a streaming agent say done?"""
