"""Where tools start and fail: the SDK's run hooks, and the entry point of function tools.

`on_tool_start` tells that a tool is about to run. That it failed no hook tells: by default the
SDK turns what the tool raised into an output for the model, and `on_tool_end` sees a string. So
the function that runs the tool is wrapped when the tool first starts in a watched run. The
wrapper changes nothing; it reports what passes through it, and only to the run that the call
belongs to, since the SDK gives each call a context object of its own.
"""

from __future__ import annotations

import asyncio
import functools
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from agents import FunctionTool, RunHooks, Tool, function_tool
from agents.lifecycle import RunHooksBase

Report = Callable[[BaseException], None]
"""Told what the body of a tool raised."""

_REPORTS: Final[WeakKeyDictionary[Any, Report]] = WeakKeyDictionary()
"""The watched calls that run now, by the SDK's context object of the call."""

_MARK: Final = "__doneness_watched__"

# Where the SDK's own wrapper, which turns exceptions into outputs, keeps what it wraps. It is
# no public name, but nothing public tells of every failure: `on_tool_end` gets the output that was
# made of it, a `failure_error_function` is given where a tool is made and read back nowhere, and
# `tool_error_formatter` (0.24.0, not 0.23.1) is passed by where a tool words its failure itself.
# Tools without it are wrapped from outside, which sees what the SDK lets through.
_INNER: Final = "_invoke_tool_impl"


@functools.cache
def _shows_bodies(name: str) -> bool:
    """Whether this SDK keeps the body of a function tool where it is looked for."""

    def probe() -> str:
        return ""

    return callable(getattr(function_tool(probe).on_invoke_tool, name, None))


def watch_call(context: Any, tool: Tool, report: Report) -> None:
    """Have `report` called if this call of a function tool raises."""
    if isinstance(tool, FunctionTool):
        _REPORTS[context] = report
        holder, name = (
            (tool.on_invoke_tool, _INNER)
            if callable(getattr(tool.on_invoke_tool, _INNER, None))
            else (tool, "on_invoke_tool")
        )
        inner = getattr(holder, name)
        if not hasattr(inner, _MARK):
            setattr(holder, name, _reporting(inner))


def _reporting(invoke: Callable[[Any, str], Awaitable[Any]]) -> Callable[[Any, str], Any]:
    @functools.wraps(invoke)
    async def reporting(context: Any, arguments: str) -> Any:
        try:
            return await invoke(context, arguments)
        except BaseException as error:
            report = _REPORTS.get(context)
            if report is not None:
                report(error)
            raise

    setattr(reporting, _MARK, True)
    return reporting


class WatchingHooks(RunHooks[Any]):
    """Run hooks that tell an adapter of the tools, and hand everything on to the host's own.

    Args:
        started, failed, cancelled, returned: Called with the id of the call. They must not
            raise: the run is not theirs to break.
        hooks: The host's own hooks; each is called after ours.
    """

    def __init__(
        self,
        *,
        started: Callable[[str], None],
        failed: Callable[[str], None],
        cancelled: Callable[[str], None],
        returned: Callable[[str], None],
        hooks: RunHooksBase[Any, Any] | None = None,
    ) -> None:
        if not isinstance(hooks, RunHooksBase | None):
            raise TypeError(f"hooks: expected the SDK's RunHooks, got {type(hooks).__name__}")
        if not _shows_bodies(_INNER):
            warnings.warn(
                "this release of openai-agents does not show the body of a function tool: a tool "
                "that fails is shown as returned where the SDK makes an output of its failure; "
                "use a release that doneness was tested with",
                RuntimeWarning,
                stacklevel=3,
            )
        self._started = started
        self._failed = failed
        self._cancelled = cancelled
        self._returned = returned
        # Every hook that this SDK has, and that is not one of the two below, goes to the host.
        if hooks is not None:
            for name in dir(RunHooksBase):
                if name.startswith("on_") and name not in vars(type(self)):
                    setattr(self, name, getattr(hooks, name))
        self._hooks: RunHooksBase[Any, Any] = hooks or RunHooks()

    async def on_tool_start(self, context: Any, agent: Any, tool: Tool) -> None:
        """A local tool is about to run; only a call with an id can be told apart."""
        call_id = _call_id(context)
        if call_id is not None:
            self._started(call_id)
            watch_call(context, tool, functools.partial(self._report, call_id))
        await self._hooks.on_tool_start(context, agent, tool)

    async def on_tool_end(self, context: Any, agent: Any, tool: Tool, result: object) -> None:
        """A local tool returned, or what it raised was made into an output."""
        call_id = _call_id(context)
        if call_id is not None:
            self._returned(call_id)
        await self._hooks.on_tool_end(context, agent, tool, result)

    def _report(self, call_id: str, error: BaseException) -> None:
        if isinstance(error, asyncio.CancelledError):
            self._cancelled(call_id)
        else:
            self._failed(call_id)


def _call_id(context: object) -> str | None:
    """The id of the call; other local tools than functions get a context without one."""
    call_id = getattr(context, "tool_call_id", None)
    return call_id if isinstance(call_id, str) and call_id else None
