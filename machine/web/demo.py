"""What `doneness demo` shows: five runs, and a model inside the process that plays along.

Each run ends in another way, and none because a script says so: the scripted model only answers,
what comes of it is found out by the loop, the host, the reducer and the to-do list.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from doneness.machine.agent.effects import effects_hold
from doneness.machine.agent.endpoint import Endpoint
from doneness.machine.agent.scripted_answers import Answer, Call, answer, cut_in_event, delayed
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.todo import TodoList
from doneness.machine.agent.todo_model import todo_model
from doneness.machine.agent.tools import Tools
from doneness.machine.web.host import Host, Plan
from doneness.machine.web.hub import Hub

DELIVERY: Final = "order_delivery"
DELIVERY_SECONDS: Final = 60.0

EXPECTED: Final = {
    "ends_well": "done",
    "waits": "waiting",
    "cancelled": "cancelled",
    "breaks": "failed",
    "rejected": "rejected",
}
"""The status of each of the five runs when nobody does anything, with the embedded model."""


class Demo:
    """The hub, the host and the five plans; a context manager inside an event loop.

    Args:
        folder: For the logs and the to-do list; a second demo goes on from what is there.
        endpoint: A real model instead of the embedded one; only the run whose connection breaks
            keeps the embedded one, since nobody can ask a real one for that.
        step_seconds: How long the embedded model waits before each piece of its answers.
    """

    def __init__(
        self, folder: Path, *, endpoint: Endpoint | None = None, step_seconds: float = 0.2
    ) -> None:
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._step_seconds = step_seconds
        folder.mkdir(parents=True, exist_ok=True)
        self._todo = TodoList(folder / "todo.sqlite")
        if not self._todo.list_todos():
            self._todo.add_todo("water the plants / 浇花")
        whole = endpoint or self._scripted(self._model)
        self.plans = _plans(whole, self._scripted(self._breaking), step_seconds)
        todo = self._todo
        tools = Tools(todo.list_todos, todo.add_todo, todo.complete_todo, self._order_delivery())
        self.hub = Hub(folder / "runs")
        self.host = Host(self.hub, self.plans, tools, self._accepts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._stack.close()

    def _scripted(self, script: Any) -> Endpoint:
        server = self._stack.enter_context(ScriptedServer(script))
        return server.endpoint(retries_max=0)

    def _model(self, request: dict[str, Any]) -> Answer:
        last = request["messages"][-1]
        if last["role"] == "user" and last["content"].startswith("deliver"):
            what = last["content"].removeprefix("deliver").strip()
            said = answer("I order it; ", "that takes a while.", Call(DELIVERY, {"what": what}))
        else:
            said = todo_model(request)
        return delayed(said, self._step_seconds)

    def _breaking(self, _request: dict[str, Any]) -> Answer:
        said = answer("I am looking", " at the list;", " it says that", " all is d")
        return delayed(cut_in_event(said, 4), self._step_seconds)

    def _order_delivery(self) -> Any:
        stop = self._stop

        def order_delivery(what: str) -> str:
            """Order something to be delivered; takes a minute."""
            stop.wait(DELIVERY_SECONDS)
            return json.dumps({"delivered": what}, ensure_ascii=False)

        return order_delivery

    def _accepts(self, events: Sequence[Mapping[str, object]]) -> bool:
        try:
            return effects_hold(events, self._todo.list_todos())
        except sqlite3.Error:  # what cannot be read confirms nothing
            return False


def _plans(whole: Endpoint, breaking: Endpoint, step_seconds: float) -> dict[str, Plan]:
    return {
        "ends_well": Plan({"en": "Ends well", "zh": "顺利完成"}, "add buy milk / 买牛奶", whole),
        "waits": Plan(
            {"en": "Waits for approval", "zh": "等待批准"},
            "complete 1",
            whole,
            needs_approval=frozenset({"complete_todo"}),
        ),
        "cancelled": Plan(
            {"en": "Cancelled, a tool still running", "zh": "取消时工具仍在运行"},
            "deliver two kilos of rice / 两公斤大米",
            whole,
            cancel_after_seconds=15 * step_seconds,
        ),
        "breaks": Plan({"en": "Connection breaks", "zh": "连接中断"}, "list", breaking),
        "rejected": Plan(
            {"en": "Rejected by the application", "zh": "应用验收未通过"}, "complete 9999", whole
        ),
    }
