"""`doneness log`: a recorded run of the agent loop, replayed offline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

import click

from doneness.machine.commands.bad_input import BadInputError, needs
from doneness.spec.vocabulary import LABELS, Language

EVENTS: Final = frozenset(
    {"iteration_start", "token", "usage", "tool_start", "tool_result", "done", "error"}
)
"""The types of the loop's events (contract §6)."""


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
            for event in replay(_of_the_loop(file, read_log(file)), speed=speed):
                cut = runs.cut_by(event)
                if cut is not None:
                    view.show_status(cut)
                view.feed(event)
            view.end(runs.close())
    except LogError as error:
        raise BadInputError(str(error)) from error


def _of_the_loop(file: Path, events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The same events; unknown ones are shown only beside at least one that is known.

    Raises:
        BadInputError: there are lines, and none is an event of the loop.
    """
    rest = iter(events)
    unknown: list[Mapping[str, Any]] = []
    for event in rest:
        kind = event.get("type")
        if isinstance(kind, str) and kind in EVENTS:
            yield from chain(unknown, (event,), rest)
            return
        unknown.append(event)
    if any("kind" in event for event in unknown):
        raise BadInputError(f"{file}: this is a log of envelopes; use `doneness replay`")
    if unknown:
        expected = "expected a log of the agent loop, as `doneness agent --log` writes"
        raise BadInputError(f"{file}: no line is an event of the loop; {expected}")
