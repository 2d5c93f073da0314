"""Every member of the unions of the installed packages is classified; any other blocks.

The unions are read from the packages, so a new release that adds a member turns this red.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

import agents
import pytest
from agents import items, stream_events
from openai.types.responses import ResponseOutputItem, ResponseStreamEvent, ResponseTextDeltaEvent
from pydantic import BaseModel

from doneness.machine import Producer, Progress
from doneness.machine.adapters.openai_agents import EventAdapter, classification
from doneness.machine.adapters.openai_agents.classification import Take
from doneness.spec.vocabulary import Kind


def _members(union: Any) -> Iterator[type]:
    """The classes of a union, however it is nested and annotated."""
    for part in get_args(union):
        if inspect.isclass(part):
            yield part
        elif get_origin(part) is not dict:  # a mapping in the place of any of the others
            yield from _members(part)


def _literals(member: type, field: str = "type") -> set[str]:
    """What a field that tells members apart may hold: of a model, a dataclass or a typed dict."""
    if issubclass(member, BaseModel):
        return set(get_args(member.model_fields[field].annotation))
    return set(get_args(get_type_hints(member)[field]))


def _types(union: Any) -> set[str]:
    return set().union(*(_literals(member) for member in _members(union)))


def test_stream_events() -> None:
    assert _types(stream_events.StreamEvent) == classification.STREAM_EVENTS


def test_raw_events() -> None:
    union = _types(ResponseStreamEvent)
    assert len(union) > 50
    assert union == _types(items.TResponseStreamEvent)
    assert union - classification.RAW_EVENTS.keys() == set()
    # The one name beside the union, which the SDK knows.
    assert classification.RAW_EVENTS.keys() - union == {"response.error"}


def test_run_items() -> None:
    assert _literals(stream_events.RunItemStreamEvent, "name") == classification.RUN_ITEMS.keys()


def test_items() -> None:
    """Whatever a model can put out is a call, an output or something else, and only one of them."""
    known = [classification.CALLS.keys(), classification.OUTPUTS.keys(), classification.OTHER_ITEMS]
    for union in (ResponseOutputItem, items.TResponseOutputItem):
        for name in _types(union):
            assert sum(name in names for names in known) == 1, name


def test_items_of_tool_events() -> None:
    """What the SDK declares for `tool_called` and `tool_output`; mappings are read like items."""
    assert _types(items.ToolCallItemTypes) <= classification.CALLS.keys()
    outputs = _types(items.ToolCallOutputTypes)
    assert len(outputs) > 2
    assert outputs <= classification.OUTPUTS.keys()


EXPECTED = {
    Take.TEXT: Kind.TEXT_DELTA,
    Take.COMPLETED: Kind.MODEL_COMPLETED,
    Take.UNRESOLVED: Kind.MODEL_UNRESOLVED,
    Take.OBSERVE: None,
}


def _fed(event: object) -> tuple[list[str], Progress]:
    kinds: list[str] = []
    progress = Progress("run-A")

    def take(envelope: Any) -> None:
        kinds.append(envelope["kind"])
        progress.feed(envelope)

    EventAdapter(Producer("run-A"), take).feed(event)
    return kinds, progress


@pytest.mark.parametrize("member", list(_members(ResponseStreamEvent)), ids=lambda m: m.__name__)
def test_each_raw_event_does_what_the_table_says(member: Any) -> None:
    (name,) = _literals(member)
    take = classification.RAW_EVENTS[name]
    response = SimpleNamespace(id="resp-1", error=None, incomplete_details=None)
    raw = member.model_construct(type=name, delta="x", response=response)
    kinds, progress = _fed(agents.RawResponsesStreamEvent(data=raw))
    assert kinds == ([] if EXPECTED[take] is None else [EXPECTED[take]])
    assert progress.issues == []


def _raw(**fields: Any) -> object:
    return agents.RawResponsesStreamEvent(data=SimpleNamespace(**fields))


def _item(name: Any, raw: Any) -> object:
    item = SimpleNamespace(raw_item=raw, type="tool_call_item")
    return agents.RunItemStreamEvent(name=name, item=item)


class _Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


BLOCKING = {
    "a raw event of tomorrow": _raw(type="response.output_video.done"),
    "a name that ends like the one that is known": _raw(type="response.video.completed"),
    "a run item of tomorrow": _item("tool_completed", {"type": "function_call", "call_id": "c"}),
    "a call of tomorrow": _item("tool_called", {"type": "video_call", "call_id": "c"}),
    "an output of tomorrow": _item("tool_output", {"type": "video_call_output", "call_id": "c"}),
    "a call without an id": _item("tool_called", {"type": "function_call"}),
    "a call with an empty id": _item("tool_called", {"type": "function_call", "call_id": ""}),
    "a call whose id is a number": _item("tool_called", {"type": "function_call", "call_id": 1}),
    "a call without a type": _item("tool_called", {"call_id": "c"}),
    "a hand-off without an id": _item("handoff_requested", {"type": "function_call"}),
    "an item without its raw item": agents.RunItemStreamEvent("tool_called", SimpleNamespace()),
    "text that is no text": _raw(type="response.output_text.delta", delta=b"x"),
    "text without a delta": _raw(type="response.output_text.delta"),
    "a real text event without a delta": agents.RawResponsesStreamEvent(
        data=ResponseTextDeltaEvent.model_construct(type="response.output_text.delta")
    ),
    "a completed response that is missing": _raw(type="response.completed"),
    "a raw event without a type": _raw(),
    "a type that cannot be hashed": _raw(type=["response.completed"]),
    "a stream event of tomorrow": SimpleNamespace(type="run_ended_event"),
    "no event at all": None,
    "a mapping": {"type": "raw_response_event"},
    "an object that raises": _Hostile(),
    "a raw event whose data raises": agents.RawResponsesStreamEvent(data=_Hostile()),
}


@pytest.mark.parametrize("event", BLOCKING.values(), ids=BLOCKING)
def test_what_nobody_classified_blocks_success(event: object) -> None:
    kinds, progress = _fed(event)
    assert kinds == ["adapter.unsupported_event"]
    assert progress.issues == ["unknown_event"]
    assert progress.status == "unknown"


def test_a_blocking_event_is_named_and_its_name_is_bounded() -> None:
    log: list[Any] = []
    adapter = EventAdapter(Producer("run-A"), log.append)
    adapter.feed(_item("tool_called", {"type": "video_call", "call_id": "c", "secret": "s"}))
    adapter.feed(_raw(type="x" * 10_000))
    assert log[0]["data"] == {"type": "run_item_stream_event/tool_called/tool_call_item/video_call"}
    assert len(log[1]["data"]["type"]) == 200


def test_a_completed_response_without_an_id_is_no_contradiction() -> None:
    for response_id in (None, ""):
        event = _raw(type="response.completed", response=SimpleNamespace(id=response_id))
        assert _fed(event)[0] == []


def test_contradictions_reach_the_reducer() -> None:
    """A call requested twice, or an output without a request, is not tidied away."""
    requested = _item("tool_called", {"type": "function_call", "call_id": "c"})
    output = _item("tool_output", {"type": "function_call_output", "call_id": "c"})
    for events in ((requested, requested), (output,), (requested, output, output)):
        progress = Progress("run-A")
        adapter = EventAdapter(Producer("run-A"), progress.feed)
        for event in events:
            adapter.feed(event)
        assert progress.issues == ["bad_payload_or_transition"]


def test_the_short_way_for_text_emits_as_the_producer_does() -> None:
    """Same envelopes and same numbers, whatever is emitted between."""
    log: list[Any] = []
    watched, plain = Producer("run-A"), Producer("run-A")
    feed = EventAdapter(watched, log.append).feed
    for text in ("", "合成", "\ud83d", "x" * 1000):
        feed(_raw_delta(text))
        log.append(watched.emit("approval.wait"))
    expected = []
    for text in ("", "合成", "\ud83d", "x" * 1000):
        expected += [plain.emit("text.delta", text=text), plain.emit("approval.wait")]
    assert log == expected
    assert {type(envelope["kind"]) for envelope in log} == {str}
    assert watched.last_seq == plain.last_seq == len(log)


def _raw_delta(text: str) -> agents.RawResponsesStreamEvent:
    return agents.RawResponsesStreamEvent(
        data=ResponseTextDeltaEvent.model_construct(type="response.output_text.delta", delta=text)
    )
