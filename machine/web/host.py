"""The host of the web page: it runs the agent loop, and does what people decide.

A run is a task of the event loop. Everything that happens in it becomes records of its stream:
the loop's events, except those that say no more than their envelopes, and the envelopes that the
adapter makes of them. What people do comes from here as well, since only the host may say it:

- **cancel**: the request is on record at once; then the loop is closed, which closes the
  connection to the model, and only then is the cancel confirmed. A tool that is at work cannot be
  stopped: it stays *running* on record, and what it returns later is not heard.
- **approval**: a call that needs one is not started. The loop is closed, the run pauses, and what
  it takes to go on is written to `RUN.paused.json`. An approval starts a run of its own for the
  same task, allowed to make exactly this call; a refusal is put on record and nothing is run.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from doneness.machine.agent.loop import run_agent_async
from doneness.machine.agent.tools import Tools
from doneness.machine.agent.tracked import TrackedRun
from doneness.machine.watchers.log import LogError
from doneness.spec.vocabulary import Language, Status

if TYPE_CHECKING:
    from doneness.machine.agent.conversation import Event, Message
    from doneness.machine.agent.endpoint import Endpoint
    from doneness.machine.web.hub import Hub, Record, RunStream

_ONLY_ENVELOPES: Final = ("token", "done")


class NoSuchRunError(LookupError):
    """There is no run with this id."""


class NotPossibleError(Exception):
    """What was asked for cannot be done to this run; the message says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to do.

    Attributes:
        title: For people, in each language.
        wish: What the user wants of the agent.
        endpoint: Where the model is.
        needs_approval: The tools that must not start without a person's approval.
        cancel_after_seconds: The host itself asks to cancel so long after the first tool started.
    """

    title: Mapping[Language, str]
    wish: str
    endpoint: Endpoint
    needs_approval: frozenset[str] = frozenset()
    cancel_after_seconds: float | None = None


@dataclass(slots=True)
class _Live:
    """A run that is going on."""

    plan: Plan
    stream: RunStream
    tracked: TrackedRun
    events: list[Event] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def publish(self, records: Sequence[Record]) -> None:
        for record in records:
            self.stream.publish(record)


class Host:
    """Runs plans, and answers cancel, approve and reject.

    Args:
        hub: Where the runs are seen; what its logs hold of an earlier host is read here.
        plans: By name.
        tools: What every agent may call.
        accepts: The application's check: whether the effects of these loop events hold. It is
            called in a thread.

    Raises:
        LogError: see `RunStream`.
    """

    def __init__(
        self,
        hub: Hub,
        plans: Mapping[str, Plan],
        tools: Tools,
        accepts: Callable[[Sequence[Mapping[str, object]]], bool],
    ) -> None:
        self._hub = hub
        self._plans = plans
        self._tools = tools
        self._accepts = accepts
        self._live: dict[str, _Live] = {}
        hub.load(open_runs=frozenset(_paused(hub.folder)))

    def start(self, name: str) -> str:
        """Begin the plan `name`; returns the id of the run."""
        plan = self._plans[name]
        return self._start(name, [{"role": "user", "content": plan.wish}], task=uuid4().hex)

    def actions(self, run: str) -> tuple[str, ...]:
        """What a person can do to this run now."""
        if run in self._live and self._live[run].tracked.progress.status is Status.RUNNING:
            return ("cancel",)
        return ("approve", "reject") if self._paused_file(run).exists() else ()

    def cancel(self, run: str) -> None:
        """Ask for the end of a run that is going on.

        Raises:
            NoSuchRunError: there is no such run.
            NotPossibleError: it has ended, or was asked already.
        """
        self._must(run, "cancel", "it is not going on, or was asked to cancel already")
        live = self._live[run]
        live.publish(live.tracked.request_cancel())
        if live.task is not None:
            live.task.cancel()

    def approve(self, run: str) -> str:
        """Let the call be made that the run waits for; returns the run that goes on.

        Raises:
            NoSuchRunError: there is no such run.
            NotPossibleError: it waits for nothing, or not any more.
        """
        paused = self._decide(run, approved=True)
        call = paused["call"]
        told = f"{call['name']} {_canonical(call['args'])}: approved. Make this call now."
        messages = [*paused["messages"], {"role": "user", "content": told}]
        name, task = paused["plan"], paused["task"]
        following = self._start(name, messages, task=task, approved=call, resumes=run)
        self._close_decision(run, approved=True, following=following)
        return following

    def reject(self, run: str) -> None:
        """Do not let the call be made; the run stays as it is, and nothing goes on.

        Raises:
            NoSuchRunError: there is no such run.
            NotPossibleError: it waits for nothing, or not any more.
        """
        self._decide(run, approved=False)
        self._close_decision(run, approved=False)

    async def settled(self) -> None:
        """Wait until no run goes on: each has ended, or waits for a person."""
        while self._live:
            tasks = [live.task for live in self._live.values() if live.task is not None]
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """Stop: runs that are going on are dropped, with no word about how they ended."""
        tasks = [live.task for live in self._live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _must(self, run: str, action: str, otherwise: str) -> None:
        if run not in self._hub.streams:
            raise NoSuchRunError(f"no run has the id {run!r}")
        if action not in self.actions(run):
            raise NotPossibleError(f"run {run}: cannot {action}: {otherwise}")

    def _decide(self, run: str, *, approved: bool) -> dict[str, Any]:
        action = "approve" if approved else "reject"
        self._must(run, action, "it does not wait for an approval")
        path = self._paused_file(run)
        paused: dict[str, Any] = json.loads(path.read_bytes())
        if paused["plan"] not in self._plans:
            raise NotPossibleError(f"run {run}: this host has no plan {paused['plan']!r}")
        path.unlink()  # first: after a kill in between, rather no call than two
        return paused

    def _close_decision(self, run: str, *, approved: bool, following: str | None = None) -> None:
        stream = self._hub.streams[run]
        record = {"type": "decision", "ts": time.time(), "approved": approved, "run": following}
        stream.publish(record)
        stream.end()

    def _start(
        self,
        name: str,
        messages: list[Message],
        *,
        task: str,
        approved: Mapping[str, Any] | None = None,
        resumes: str | None = None,
    ) -> str:
        run = uuid4().hex
        plan = self._plans[name]
        live = _Live(plan, self._hub.open(run), TrackedRun(run))
        opening = {"title": dict(plan.title), "wish": plan.wish, "task": task, "resumes": resumes}
        live.stream.publish({"type": "opening", "ts": time.time(), "plan": name, **opening})
        self._live[run] = live
        live.task = asyncio.create_task(self._drive(live, name, task, messages, approved))
        return run

    async def _drive(
        self,
        live: _Live,
        name: str,
        task: str,
        messages: list[Message],
        approved: Mapping[str, Any] | None,
    ) -> None:
        run = live.stream.run
        held = None
        try:
            try:
                held = await self._consume(live, messages, approved)
                if held is not None:
                    call = {"name": held["name"], "args": held["args"]}
                    paused = {"plan": name, "task": task, "messages": messages, "call": call}
                    _write(self._paused_file(run), paused)
                    live.publish([{**held, "type": "held"}, *live.tracked.pause()])
                elif live.tracked.progress.status is Status.CHECKING:
                    ok = await asyncio.to_thread(self._accepts, live.events)
                    live.publish(live.tracked.judge(ok=ok))
            except asyncio.CancelledError:  # by now the loop is closed
                if live.tracked.progress.status is not Status.CANCELLING:
                    held = held or {}  # the host stops: the stream is left, not ended
                    raise
                live.publish(live.tracked.confirm_cancel())
        except (LogError, OSError):
            held = None  # what is not on record is not known: the stream ends here
        finally:
            del self._live[run]
            if held is None:
                live.stream.end()

    async def _consume(
        self, live: _Live, messages: list[Message], approved: Mapping[str, Any] | None
    ) -> Event | None:
        """Publish the events of the loop; the start of a call that must not be made, if any."""
        plan = live.plan
        async with aclosing(run_agent_async(messages, self._tools, plan.endpoint)) as events:
            async for event in events:
                if event["type"] == "tool_start":
                    if event["name"] in plan.needs_approval and not _is(event, approved):
                        live.publish(live.tracked.wait_for_approval())
                        return event
                    approved = None if _is(event, approved) else approved  # for one call
                    self._cancel_later(live)
                live.events.append(event)
                if event["type"] not in _ONLY_ENVELOPES:
                    live.stream.publish(event)
                live.publish(live.tracked.feed(event))
        return None

    def _cancel_later(self, live: _Live) -> None:
        seconds = live.plan.cancel_after_seconds
        if seconds is not None:

            def cancel() -> None:
                with suppress(NotPossibleError):
                    self.cancel(live.stream.run)

            asyncio.get_running_loop().call_later(seconds, cancel)

    def _paused_file(self, run: str) -> Path:
        return self._hub.folder / f"{run}{_PAUSED}"


_PAUSED: Final = ".paused.json"


def _paused(folder: Path) -> list[str]:
    return [path.name.removesuffix(_PAUSED) for path in folder.glob(f"*{_PAUSED}")]


def _is(event: Event, call: Mapping[str, Any] | None) -> bool:
    if call is None or event["name"] != call["name"]:
        return False
    return _canonical(event["args"]) == _canonical(call["args"])


def _canonical(arguments: object) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)


def _write(path: Path, content: Mapping[str, object]) -> None:
    """Atomically: whole, or not there."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(content), "utf-8")
    os.replace(part, path)  # noqa: PTH105
