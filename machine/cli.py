"""The command `doneness`: a group whose subcommands are found, not listed.

Every package of the project (and any other installed one) declares its subcommands under the
entry-point group `doneness.commands`; so the machine never imports the checks or the diagrams,
and a subcommand that is not called costs nothing.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import click


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


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="doneness")
def main() -> None:
    """When may a streaming agent say done?"""
