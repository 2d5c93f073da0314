"""Model scripts for the loop itself, without I/O: all of them within small caps.

The loop's rules are a generator that asks for chunks and tool runs; here it is driven by a third
driver, which answers from a script and reaches every script within the caps. The set of event
sequences that come out must be *equal* to the set of complete sequences that `spec.loop` allows
within the same caps: the loop says nothing illegal, and everything legal can happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from doneness.generators.loop_oracle import LoopOracle
from doneness.machine.agent.calls import Outcome
from doneness.machine.agent.conversation import (
    END,
    CloseModel,
    Event,
    Message,
    ModelFailure,
    NextChunk,
    OpenModel,
    RunTool,
    conversation,
)
from doneness.spec.loop import (
    ENDS_DONE,
    ENDS_ERROR,
    ITERATION_START,
    TOKEN,
    TOOL_RESULT,
    TOOL_START,
    USAGE,
)


@dataclass(frozen=True, slots=True)
class Caps:
    """How far the enumeration goes; part of every claim that rests on it."""

    rounds: int = 2
    tokens_a_round: int = 2
    calls_a_round: int = 2


@dataclass(frozen=True, slots=True)
class Round:
    """What the model does in one round.

    `ends` says how: with an answer, with a failure (at the opening, or in the stream), or with
    one tool call for each of `calls`, where True is a call that fails.
    """

    tokens: int
    usage: bool
    ends: Literal["answer", "refusal", "cut", "unfinished", "calls"]
    calls: tuple[bool, ...] = ()


def rounds(caps: Caps) -> Iterator[Round]:
    """Every round within the caps."""
    for tokens, usage in product(range(caps.tokens_a_round + 1), (False, True)):
        yield Round(tokens, usage, "answer")
        yield Round(tokens, usage, "cut")
        yield Round(tokens, usage, "unfinished")
        for count in range(1, caps.calls_a_round + 1):
            for calls in product((False, True), repeat=count):
                yield Round(tokens, usage, "calls", calls)
    yield Round(0, False, "refusal")


def scripts(caps: Caps, made: tuple[Round, ...] = ()) -> Iterator[tuple[Round, ...]]:
    """Every script within the caps: rounds with calls, and at most one other at its end."""
    for each in rounds(caps):
        script = (*made, each)
        if each.ends == "calls" and len(script) < caps.rounds:
            yield from scripts(caps, script)
        else:
            yield script


def chunks(round_: Round) -> Iterator[Mapping[str, object]]:
    """What the model sends in that round."""
    for _ in range(round_.tokens):
        yield {"choices": [{"delta": {"content": "x"}}]}
    for index, fails in enumerate(round_.calls):
        name = "fails" if fails else "works"
        function = {"name": name, "arguments": "{}"}
        yield {"choices": [{"delta": {"tool_calls": [{"index": index, "function": function}]}}]}
    if round_.ends in ("answer", "calls"):
        reason = "stop" if round_.ends == "answer" else "tool_calls"
        yield {"choices": [{"delta": {}, "finish_reason": reason}]}
    if round_.usage:
        yield {"choices": [], "usage": {"total_tokens": 1}}


class ProtocolError(AssertionError):
    """The loop asked its driver for something out of place."""


def drive(
    script: tuple[Round, ...],
    rounds_max: int,
    *,
    stop_after: int | None = None,
    at_model_call: Callable[[list[Message]], object] = lambda messages: messages,
) -> list[Event]:
    """The events of the loop on a script; with `stop_after`, closed after so many."""
    messages: list[Message] = [{"role": "user", "content": "go"}]
    steps = conversation(messages, rounds_max=rounds_max, clock=lambda: 0.0)
    script_left = iter(script)
    stream: Iterator[object] | None = None
    events: list[Event] = []
    reply: object = None
    try:
        while stop_after is None or len(events) < stop_after:
            step = steps.send(reply)
            reply = None
            match step:
                case OpenModel(asked):
                    if stream is not None:
                        raise ProtocolError("the model is opened, but was never closed")
                    at_model_call(asked)
                    round_ = next(script_left)
                    stream = iter(_stream(round_))
                    reply = ModelFailure("refused") if round_.ends == "refusal" else None
                case NextChunk():
                    if stream is None:
                        raise ProtocolError("a chunk is wanted, but no model is open")
                    reply = next(stream)
                case CloseModel():
                    stream = None
                case RunTool(name, _):
                    if stream is not None:
                        raise ProtocolError("a tool is run while the model is still open")
                    reply = Outcome(name, is_error=name == "fails")
                case _:
                    events.append(step)
    except StopIteration:
        pass
    steps.close()
    at_model_call(messages)
    return events


def _stream(round_: Round) -> Iterator[object]:
    yield from chunks(round_)
    yield ModelFailure("cut") if round_.ends == "cut" else END


def legal_sequences(caps: Caps) -> Iterator[tuple[Event, ...]]:
    """Every complete sequence that the declaration allows within the caps, walked depth first."""
    oracle = LoopOracle(caps.rounds)

    def walk(made: tuple[Event, ...]) -> Iterator[tuple[Event, ...]]:
        for event in _candidates(made, caps):
            here = oracle.mark()
            if oracle.take(event).refused is None:
                if oracle.is_over:
                    yield (*made, event)
                else:
                    yield from walk((*made, event))
            oracle.back_to(here)

    yield from walk(())


def _candidates(made: tuple[Event, ...], caps: Caps) -> Iterator[Event]:
    """One event of each type, or two, that could be tried next; the declaration judges them."""
    rounds_made = sum(event["type"] == ITERATION_START for event in made)
    in_round = made[
        max((n for n, e in enumerate(made) if e["type"] == ITERATION_START), default=0) :
    ]
    yield {"type": ITERATION_START, "iteration": rounds_made + 1}
    if sum(event["type"] == TOKEN for event in in_round) < caps.tokens_a_round:
        yield {"type": TOKEN}
    yield {"type": USAGE}
    calls = sum(event["type"] == TOOL_START for event in in_round)
    if calls < caps.calls_a_round:
        for name in ("works", "fails"):
            yield {"type": TOOL_START, "call_id": f"{rounds_made}.{calls}", "name": name}
    if in_round and in_round[-1]["type"] == TOOL_START:
        last = in_round[-1]
        is_error = last["name"] == "fails"
        yield {**last, "type": TOOL_RESULT, "is_error": is_error}
    yield {"type": ENDS_DONE}
    yield {"type": ENDS_ERROR}


def shape(events: tuple[Event, ...] | list[Event]) -> tuple[object, ...]:
    """What of a sequence is compared: types, iterations, names, failures, and which call is which.

    Call ids are the loop's own choice, so they are numbered by first appearance.
    """
    numbers: dict[object, int] = {}
    rows = []
    for event in events:
        call = event.get("call_id")
        number = None if call is None else numbers.setdefault(call, len(numbers))
        read = (event.get("iteration"), event.get("name"), event.get("is_error"))
        rows.append((event["type"], number, *read))
    return tuple(rows)
