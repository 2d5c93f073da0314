"""One call wraps a streamed run, and draws the owner's conclusion when its stream is over.

The SDK has no event for the end of a run, no run id and no status; what there is to know lies
in several places, and some of it leaves no trace (a cancel *after this turn*, a tripwire that
only the iterator raises). The order in which they are asked decides; see `StreamedRun`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from typing import Any, Literal, cast

from agents import Agent, Runner, RunState, StreamEvent
from agents.lifecycle import RunHooksBase
from agents.result import RunResultStreaming

from doneness.machine.adapters.openai_agents.events import EventAdapter, Sink
from doneness.machine.adapters.openai_agents.final_text import final_text_of
from doneness.machine.adapters.openai_agents.hooks import WatchingHooks
from doneness.machine.producer import Producer
from doneness.spec.vocabulary import Kind

CancelMode = Literal["immediate", "after_turn"]


def run_streamed(
    starting_agent: Agent[Any],
    input: str | list[Any] | RunState[Any, Any],  # noqa: A002 # the SDK's name for it
    *,
    producer: Producer,
    to: Sink,
    hooks: RunHooksBase[Any, Any] | None = None,
    text_of: Callable[[Any], str | None] = final_text_of,
    **settings: Any,
) -> StreamedRun:
    """Start a run as `Runner.run_streamed` does, and have what happens emitted.

    Args:
        starting_agent: As for the SDK.
        input: As for the SDK; a `RunState` resumes a paused run, which takes a producer and a
            reducer of its own (contract §3).
        producer: Bound to the run; emit `app.checked` through it when the run is over.
        to: Gets each envelope at once and in order, such as `Progress.feed`.
        hooks: The host's own run hooks.
        text_of: Makes the final text of the final output.
        settings: Whatever else `Runner.run_streamed` takes.
    """
    adapter = EventAdapter(producer, to, resumed=isinstance(input, RunState))
    run = StreamedRun(adapter, producer, text_of)
    watching = WatchingHooks(
        started=run.guarded(adapter.tool_started),
        failed=run.guarded(adapter.tool_failed),
        cancelled=run.guarded(adapter.tool_cancelled),
        returned=run.guarded(adapter.tool_returned),
        hooks=hooks,
    )
    run.watch(Runner.run_streamed(starting_agent, input, hooks=watching, **settings))
    return run


class StreamedRun:
    """A streamed run that is watched: iterate over it, or await `to_end`.

    Iterating gives the SDK's own events, each after its envelopes. When the SDK's iterator is
    over, the owner's conclusion is emitted, if there is one. It is looked for in this order:

    | asked | conclusion |
    |---|---|
    | the iterator raised | failed |
    | there are interruptions | paused |
    | a cancel is on our record | cancelled |
    | the task of the run was cancelled | cancelled |
    | there is a final output, and the run loop did not raise | succeeded, with its text |
    | the run loop raised | failed |
    | none of these | none, the status stays unknown |

    What the SDK raises is raised here too, after the end was emitted. A consumer that leaves
    ends nothing: the run goes on, and nothing is concluded. A consumer that is cancelled has the
    SDK cancel the run, so that the run ends cancelled as soon as its task has ended.

    One consumer at a time: another waits for its turn, and finds what is left, mostly nothing.
    After the conclusion the adapter is silent: a second pass gives what the SDK gives (nothing),
    and a late `cancel` changes no record.
    """

    def __init__(
        self, adapter: EventAdapter, producer: Producer, text_of: Callable[[Any], str | None]
    ) -> None:
        self._adapter = adapter
        self._producer = producer
        self._text_of = text_of
        self._cancel_requested = False
        self._concluded = False
        self._turn = asyncio.Lock()
        self._result: RunResultStreaming | None = None

    def watch(self, result: RunResultStreaming) -> None:
        """Bind the SDK's result, once; from now on its `cancel` keeps our record as well."""
        sdk_cancel = result.cancel

        def cancel(mode: CancelMode = "immediate") -> None:
            self._record_cancel()
            sdk_cancel(mode)

        # The SDK itself calls it when a consumer that waits is cancelled.
        result.cancel = cancel  # type: ignore[method-assign]
        self._result = result

    def guarded(self, tell: Callable[[str], None]) -> Callable[[str], None]:
        """`tell`, made fit for a hook: silent after the end, and it never breaks the run."""

        def guarded(call_id: str) -> None:
            if not (self._concluded or self._adapter.broken):
                with suppress(Exception):  # kept by the adapter, raised where the host iterates
                    tell(call_id)

        return guarded

    @property
    def result(self) -> RunResultStreaming:
        """The SDK's own result."""
        if self._result is None:
            raise RuntimeError("the run has not been started; use run_streamed(…)")
        return self._result

    def cancel(self, mode: CancelMode = "immediate") -> None:
        """Ask the run to stop, and keep a record of it; go on iterating to see it end."""
        self.result.cancel(mode)

    async def to_end(self) -> RunResultStreaming:
        """Consume the stream to its end, and return the SDK's result."""
        feed = self._adapter.feed
        try:
            async with self._turn, aclosing(self._events()) as events:
                async for event in events:
                    feed(event)
        except BaseException as error:
            self._ended_by(error)
            raise
        self._conclude(None)
        return self.result

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        """The SDK's events, each after its envelopes."""
        feed = self._adapter.feed
        try:
            async with self._turn, aclosing(self._events()) as events:
                async for event in events:
                    feed(event)
                    yield event
        except BaseException as error:
            self._ended_by(error)
            raise
        self._conclude(None)

    def _events(self) -> AsyncGenerator[StreamEvent]:
        # An asynchronous generator, though the SDK declares less.
        return cast("AsyncGenerator[StreamEvent]", self.result.stream_events())

    def _record_cancel(self) -> None:
        if not (self._cancel_requested or self._concluded):
            self._cancel_requested = True
            self._adapter.send(self._producer.emit(Kind.CANCEL_REQUESTED))

    def _ended_by(self, error: BaseException) -> None:
        """The stream was left by an exception; which says something only if it is the SDK's."""
        if self._adapter.broken:
            return
        if isinstance(error, asyncio.CancelledError):
            self._record_cancel()
            task = self.result.run_loop_task
            if task is None or task.done():
                self._conclude(None)
            else:
                task.add_done_callback(lambda _task: self._conclude(None))
        elif isinstance(error, Exception):
            self._conclude(error)

    def _conclude(self, error: Exception | None) -> None:
        """Ask what there is to ask, in the order of the class's table, and emit the answer."""
        if self._adapter.broken is not None:
            raise self._adapter.broken
        if self._concluded:
            return
        result = self.result
        task = result.run_loop_task
        paused = bool(result.interruptions)
        cancelled = self._cancel_requested or (task is not None and task.cancelled())
        loop_failed = result.run_loop_exception is not None
        open_end = not (error or paused or cancelled or loop_failed)
        self._adapter.settle()
        end = self._producer.owner_finished(
            exhausted=True,
            is_complete=result.is_complete or cancelled,
            interruptions=paused,
            cancel_requested=cancelled and not paused,
            runtime_failed=error is not None or (loop_failed and not (paused or cancelled)),
            final_text=self._text_of(result.final_output) if open_end else None,
        )
        if end is not None:
            self._concluded = True
            self._adapter.send(end)
