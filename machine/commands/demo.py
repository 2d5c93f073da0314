"""`doneness demo`: agent, server and page in one command."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from doneness.machine.commands.bad_input import BadInputError, needs
from doneness.spec.vocabulary import LABELS, Language, Status

if TYPE_CHECKING:
    import socket

    from doneness.machine.agent.endpoint import Endpoint

_THREADS_MAX: Final = 64
_EVERY_INTERFACE: Final = ("", "0.0.0.0", "::")  # noqa: S104 - recognised, not chosen


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port; 0 is any free one.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the logs here, and go on from those that are there. Default: a temporary one.",
)
@click.option(
    "--step-seconds",
    type=click.FloatRange(min=0),
    default=0.2,
    show_default=True,
    help="How long the embedded model waits before each piece of its answers.",
)
@click.option("--once", is_flag=True, help="Let the runs end, print their statuses, and leave.")
@click.option(
    "--language",
    type=click.Choice(sorted(LABELS)),
    default="en",
    show_default=True,
    help="Of the labels that --once prints; the page has a button.",
)
def command(
    host: str, port: int, folder: Path | None, step_seconds: float, once: bool, language: str
) -> None:
    """Show five runs of the to-do agent on a web page.

    One ends well, one waits for an approval, one is cancelled with a tool still running, one
    loses its connection, and one is rejected by the application. With LLM_BASE_URL (and
    LLM_MODEL, LLM_API_KEY) set, that model answers; otherwise one inside this process does, which
    needs no key and no network.

    Exit status: 0; 2 if the input is bad.
    """
    with needs("agent,web"):
        from doneness.machine.agent.endpoint import Endpoint, EndpointError
        from doneness.machine.watchers.log import LogError
        from doneness.machine.web.serving import listening

    with ExitStack() as stack:
        kept = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            endpoint = Endpoint.from_environment()
            listener = stack.enter_context(listening(host, port))
            shows = _served(kept, endpoint, step_seconds, listener, host=host, once=once)
            for name, status in asyncio.run(shows).items():
                label = LABELS[cast("Language", language)][status]
                click.echo(f"{name}: {status}: {label}".encode())
        except (EndpointError, LogError) as error:
            raise BadInputError(str(error)) from error
        except (OSError, sqlite3.Error) as error:
            raise BadInputError(f"cannot serve {host} port {port}: {error}") from error
        except KeyboardInterrupt:
            click.echo("stopped")


async def _served(
    folder: Path,
    endpoint: Endpoint | None,
    step_seconds: float,
    listener: socket.socket,
    *,
    host: str,
    once: bool,
) -> dict[str, Status]:
    """Serve until it is told to stop; with `once`, the status of each run."""
    from doneness.machine.web.app import EVERY_NAME, LOCAL_NAMES, application
    from doneness.machine.web.demo import Demo
    from doneness.machine.web.serving import PageServer

    # A tool that a cancelled run left at work keeps its thread; the others need theirs.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS_MAX))
    with Demo(folder, endpoint=endpoint, step_seconds=step_seconds) as demo:
        started = {name: demo.host.start(name) for name in demo.plans}
        own = EVERY_NAME if host in _EVERY_INTERFACE else host
        app = application(demo.hub, demo.host, names=(*LOCAL_NAMES, own))
        server = PageServer(app, demo.hub)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"http://{shown}:{listener.getsockname()[1]}/")
        if once:
            await demo.host.settled()
            server.should_exit = True
        await serving
        await demo.host.close()
        if not once:
            return {}
        return {name: demo.hub.streams[run].progress.status for name, run in started.items()}
