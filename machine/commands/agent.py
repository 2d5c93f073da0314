"""`doneness agent`: the to-do agent in the terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from uuid import uuid4

import click

from doneness.machine.commands.bad_input import BadInputError, needs
from doneness.spec.vocabulary import LABELS, Language, Status

if TYPE_CHECKING:
    from doneness.machine.agent.conversation import Event
    from doneness.machine.agent.endpoint import Endpoint
    from doneness.machine.agent.todo import TodoList

EXIT_NOT_DONE: Final = 1
EXIT_INTERRUPTED: Final = 130

_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("task", default="list")
@click.option(
    "--todo",
    "todo_path",
    type=_FILE,
    default=Path(".doneness/todo.sqlite"),
    show_default=True,
    help="The file that keeps the list.",
)
@click.option("--log", "log_path", type=_FILE, help="Append the events to this JSON Lines file.")
@click.option("--log-bytes-max", type=click.IntRange(min=1), help="Rotate the log at this size.")
@click.option(
    "--rounds-max",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="How often the model may be called.",
)
@click.option("--quiet", is_flag=True, help="Show only failed tools and errors.")
@click.option(
    "--language",
    type=click.Choice(sorted(LABELS)),
    default="en",
    show_default=True,
    help="Of the labels.",
)
@click.pass_context
def command(
    context: click.Context,
    task: str,
    todo_path: Path,
    log_path: Path | None,
    log_bytes_max: int | None,
    rounds_max: int,
    quiet: bool,
    language: str,
) -> None:
    """Let the to-do agent do TASK: `add …`, `complete 3`, or `list`.

    The model is the one that LLM_BASE_URL, LLM_MODEL and LLM_API_KEY name. Without LLM_BASE_URL a
    server inside this process answers by simple rules; it needs no key and no network.

    Exit status: 0 if the run is done, and the list confirms it; 1 if not; 2 if the input is bad.
    """
    with needs("agent,views"):
        from doneness.machine.agent.loop import run_agent_async
        from doneness.machine.agent.tools import Tools
        from doneness.machine.agent.tracked import TrackedRun
        from doneness.machine.commands.views import views
        from doneness.machine.watchers.log import LogError, LogWriter

    todo = _todo_list(todo_path)
    tools = Tools(todo.list_todos, todo.add_todo, todo.complete_todo)
    tracked = TrackedRun(uuid4().hex, language=cast("Language", language))
    events: list[Event] = []
    try:
        with ExitStack() as stack:
            view = stack.enter_context(views(quiet=quiet, status_of=tracked.line_after))
            keep = [events.append]
            if log_path is not None:
                keep.append(
                    stack.enter_context(LogWriter(log_path, bytes_max=log_bytes_max)).append
                )
            endpoint = _endpoint(stack)
            wish = os.fsencode(task).decode(errors="replace")  # UTF-8 whatever the locale
            run = run_agent_async(wish, tools, endpoint, rounds_max=rounds_max)
            interrupted = asyncio.run(_watched(run, *keep, view.feed))
            if interrupted and tracked.progress.terminal is None:  # the loop is closed by now
                tracked.request_cancel()
                tracked.confirm_cancel()
            if tracked.progress.status is Status.CHECKING:
                tracked.judge(ok=_confirmed(events, todo))
            tracked.close()
            view.end(tracked.line)
    except LogError as error:
        raise BadInputError(str(error)) from error
    if interrupted:
        context.exit(EXIT_INTERRUPTED)
    context.exit(0 if tracked.progress.status is Status.DONE else EXIT_NOT_DONE)


async def _watched(run: AsyncGenerator[Event, None], *watchers: Callable[[Event], object]) -> bool:
    """Hand each event to each watcher; whether Ctrl-C ended that, with the run closed.

    The event loop takes the signal, since it is woken by it at any moment. `KeyboardInterrupt` is
    raised between two instructions only: a signal that arrives just before a blocking read waits
    for as long as the model is silent.
    """
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):  # on Windows `asyncio.run` cancels the task by itself
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    try:
        async with aclosing(run):
            async for event in run:
                for watcher in watchers:
                    watcher(event)
    except asyncio.CancelledError:
        return True
    return False


def _todo_list(path: Path) -> TodoList:
    from doneness.machine.agent.todo import TodoList

    todo = TodoList(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        todo.list_todos()
    except (OSError, sqlite3.Error) as error:
        raise BadInputError(f"--todo {path}: cannot be used as a to-do list: {error}") from error
    return todo


def _endpoint(stack: ExitStack) -> Endpoint:
    from doneness.machine.agent.endpoint import Endpoint, EndpointError
    from doneness.machine.agent.scripted_server import ScriptedServer
    from doneness.machine.agent.todo_model import todo_model

    try:
        endpoint = Endpoint.from_environment()
    except EndpointError as error:
        raise BadInputError(str(error)) from error
    return endpoint or stack.enter_context(ScriptedServer(todo_model)).endpoint()


def _confirmed(events: list[Event], todo: TodoList) -> bool:
    """The application's own check: what the tools reported is in the list, read anew."""
    from doneness.machine.agent.effects import effects_hold

    try:
        return effects_hold(events, todo.list_todos())
    except sqlite3.Error:
        return False
