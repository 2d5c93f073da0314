"""`doneness log`: a recorded run of the agent loop, replayed offline."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from doneness.machine.commands.bad_input import BadInputError, needs
from doneness.spec.vocabulary import LABELS, Language


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    help="Replay with the log's own pauses: 1 as it was, 2 twice as fast. Default: at once.",
)
@click.option("--quiet", is_flag=True, help="Show only failed tools and errors.")
@click.option(
    "--language",
    type=click.Choice(sorted(LABELS)),
    default="en",
    show_default=True,
    help="Of the labels.",
)
def command(file: Path, speed: float | None, quiet: bool, language: str) -> None:
    """Replay FILE, a log of the agent loop as JSON Lines, its rotated parts first.

    A line that was not written to its end is no event. Each run of the log has a status of its
    own: one whose end is not in the log is not known to have ended. The application's verdict is
    no event of the loop, so a run that ended well is shown as waiting for it.
    """
    with needs("views"):
        from doneness.machine.commands.views import views
    from doneness.machine.agent.tracked import TrackedRuns
    from doneness.machine.watchers.log import LogError, read_log
    from doneness.machine.watchers.replay import replay

    runs = TrackedRuns(cast("Language", language))
    try:
        with views(runs.line_after, quiet=quiet) as view:
            for event in replay(read_log(file), speed=speed):
                cut = runs.cut_by(event)
                if cut is not None:
                    view.show_status(cut)
                view.feed(event)
            view.end(runs.close())
    except LogError as error:
        raise BadInputError(str(error)) from error
