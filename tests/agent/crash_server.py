"""Run by test_kill.py: for each line read, one whole process is started, and killed in its work.

This process has imported everything, so a child is made by `fork` in a millisecond: it serves the
embedded model, runs the loop, logs and keeps the list, over and over, until SIGKILL comes.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from doneness.machine.agent.endpoint import Endpoint
from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import Answer, Call, answer
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.todo import TodoList
from doneness.machine.agent.tools import Tools
from doneness.machine.watchers.log import LogWriter
from doneness.machine.watchers.watching import watched


def model(request: dict[str, Any]) -> Answer:
    """Adds an entry, completes it, says so."""
    results = [message for message in request["messages"] if message["role"] == "tool"]
    if not results:
        return answer("我", "加", Call("add_todo", {"title": "买牛奶 " * 20}))
    if len(results) == 1:
        entry = results[0]["content"].split(",")[0].removeprefix('{"todo_id":')
        return answer(Call("complete_todo", f'{{"todo_id": {entry}}}'))
    return answer("完", "成")


def work(folder: Path, client: Any) -> NoReturn:
    todo = TodoList(folder / "todo.sqlite")
    tools = Tools(todo.list_todos, todo.add_todo, todo.complete_todo)
    with ScriptedServer(model) as server, LogWriter(folder / "run.jsonl", bytes_max=4000) as log:
        client.base_url = server.base_url
        while True:
            for _ in watched(run_agent("go", tools, server.endpoint(), client=client), log.append):
                pass


def started(folder: Path, client: Any) -> int:
    child = os.fork()
    if child == 0:
        work(folder, client)
    return child


def killed(child: int) -> int:
    os.kill(child, signal.SIGKILL)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


def seconds_for_a_run(folder: Path, client: Any) -> float:
    """From the start of a process to the end of its first run, on this machine, now."""
    begin = time.monotonic()
    child = started(folder, client)
    log = folder / "run.jsonl"
    while not log.exists() or b'"done"' not in log.read_bytes():
        time.sleep(0.002)
    killed(child)
    return time.monotonic() - begin


def main() -> None:
    client = Endpoint("http://127.0.0.1:9/v1", "scripted", direct=True).client()
    span_seconds = 1.6 * seconds_for_a_run(Path(sys.argv[1]), client)
    for line in sys.stdin:
        folder, moment = line.split("\t")
        child = started(Path(folder), client)
        time.sleep(float(moment) * span_seconds)
        sys.stdout.write(f"{killed(child)}\n")
        sys.stdout.flush()


main()
