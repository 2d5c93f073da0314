"""The two drivers of the loop: ordinary code and asynchronous code (contract §6).

The rules are in `conversation`; here is only the I/O that it asks for: one streamed HTTP request
a round, by the real `openai` client, and the tools. What the client raises is a failure of the
model call, whatever its type: besides its own errors it lets those of its parser and of its
transport through.

Both are lazy, print nothing, and close the HTTP stream and their client when the consumer
stops early: the generator's `close` (or `aclose`) runs the `finally` and `with` blocks below.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from typing import TYPE_CHECKING, Any, Final

from doneness.machine.agent.answer import whole_text
from doneness.machine.agent.conversation import (
    END,
    ROUNDS_MAX,
    Event,
    Message,
    ModelFailure,
    NextChunk,
    OpenModel,
    RunTool,
    conversation,
)
from doneness.machine.agent.endpoint import Endpoint
from doneness.machine.agent.tools import Tools

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, OpenAI, Stream
    from openai.types.chat import ChatCompletionChunk

FAILURE_CHARS_MAX: Final = 2_000
"""Bound on the message of a failed model call: a server may answer with a whole page."""


def run_agent(
    task: str | list[Message],
    tools: Tools,
    endpoint: Endpoint,
    *,
    rounds_max: int = ROUNDS_MAX,
    client: OpenAI | None = None,
    clock: Callable[[], float] = time.time,
) -> Generator[Event, None, None]:
    """Run an agent; yields its events, the last of which is one `done` or `error`.

    Args:
        task: What the user wants, or a list of messages; the loop appends to that very list.
        tools: What the model may call.
        endpoint: Where the model is.
        rounds_max: The round limit.
        client: A client to use, which stays open; otherwise the run has its own.
        clock: Seconds since 1970, for `ts`.
    """
    _check(endpoint)
    messages = _messages(task)
    with ExitStack() as stack:
        steps = stack.enter_context(closing(_steps(messages, rounds_max, clock)))
        owned = client or stack.enter_context(closing(endpoint.client()))
        stream = stack.enter_context(ExitStack())  # holds the response of the current round
        chunks: Iterator[ChatCompletionChunk] = iter(())
        reply: object = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration:
                return
            reply = None
            if isinstance(step, dict):
                yield step
            elif isinstance(step, OpenModel):
                try:
                    response = _open(owned, endpoint.model, step.messages, tools)
                    chunks = iter(stream.enter_context(response))
                except Exception as error:  # noqa: BLE001 - see the module
                    reply = _failure(error)
            elif isinstance(step, NextChunk):
                try:
                    reply = next(chunks, END)
                except Exception as error:  # noqa: BLE001 - see the module
                    reply = _failure(error)
            elif isinstance(step, RunTool):
                reply = tools.call(step.name, step.arguments)
            else:
                stream.close()


async def run_agent_async(
    task: str | list[Message],
    tools: Tools,
    endpoint: Endpoint,
    *,
    rounds_max: int = ROUNDS_MAX,
    client: AsyncOpenAI | None = None,
    clock: Callable[[], float] = time.time,
) -> AsyncGenerator[Event, None]:
    """The same as `run_agent`, for asynchronous code; tools run in a thread.

    A consumer that stops early calls `aclose` (`contextlib.aclosing` does). A tool that is
    running when the run is cancelled runs to its end: a thread cannot be stopped.
    """
    _check(endpoint)
    messages = _messages(task)
    async with AsyncExitStack() as stack:
        steps = stack.enter_context(closing(_steps(messages, rounds_max, clock)))
        owned = client or endpoint.async_client()
        if client is None:
            stack.push_async_callback(owned.close)
        stream = await stack.enter_async_context(AsyncExitStack())
        chunks: Any = None
        reply: object = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration:
                return
            reply = None
            if isinstance(step, dict):
                yield step
            elif isinstance(step, OpenModel):
                try:
                    response = await _open_async(owned, endpoint.model, step.messages, tools)
                    chunks = aiter(await stream.enter_async_context(response))
                except Exception as error:  # noqa: BLE001 - see the module
                    reply = _failure(error)
            elif isinstance(step, NextChunk):
                try:
                    reply = await anext(chunks, END)
                except Exception as error:  # noqa: BLE001 - see the module
                    reply = _failure(error)
            elif isinstance(step, RunTool):
                reply = await asyncio.to_thread(tools.call, step.name, step.arguments)
            else:
                await stream.aclose()


def _check(endpoint: object) -> None:
    """Refuse what `Endpoint.from_environment` answers where the environment names no endpoint."""
    if not isinstance(endpoint, Endpoint):
        got = type(endpoint).__name__
        remedy = "set LLM_BASE_URL, or use ScriptedServer(...).endpoint()"
        raise TypeError(f"endpoint: expected an Endpoint, got {got}; {remedy}")


def _messages(task: str | list[Message]) -> list[Message]:
    return [{"role": "user", "content": task}] if isinstance(task, str) else task


def _steps(messages: list[Message], rounds_max: int, clock: Callable[[], float]) -> Any:
    return conversation(messages, rounds_max=rounds_max, clock=clock)


def _request(model: str, messages: list[Message], tools: Tools) -> dict[str, Any]:
    # An empty list of tools is refused by the API, so it is left out.
    return {
        "model": model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        **({"tools": tools.schemas} if len(tools) else {}),
    }


def _open(
    client: OpenAI, model: str, messages: list[Message], tools: Tools
) -> Stream[ChatCompletionChunk]:
    opened: Stream[ChatCompletionChunk] = client.chat.completions.create(
        **_request(model, messages, tools)
    )
    return opened


async def _open_async(
    client: AsyncOpenAI, model: str, messages: list[Message], tools: Tools
) -> AsyncStream[ChatCompletionChunk]:
    opened: AsyncStream[ChatCompletionChunk] = await client.chat.completions.create(
        **_request(model, messages, tools)
    )
    return opened


def _failure(error: Exception) -> ModelFailure:
    told = _words(error)
    if error.__cause__ is not None:  # the client says that, its cause says how
        told += f" ({_words(error.__cause__)})"
    return ModelFailure(f"the model call failed: {told}"[:FAILURE_CHARS_MAX])


def _words(error: BaseException) -> str:
    try:
        return whole_text(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - even the words of an error may fail
        return type(error).__name__
