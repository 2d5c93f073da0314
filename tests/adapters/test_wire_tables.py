"""Each format's table against the package that defines the format: nobody is left unclassified."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from doneness.machine.adapters import ag_ui, anthropic_messages, openai_chat, openai_responses
from doneness.machine.adapters.base import Blocking, Treatment
from doneness.machine.adapters.capture import ADAPTERS, taken
from doneness.machine.producer import Envelope

PAGES = Path(__file__).parents[2] / "docs" / "formats"
FORMATS = sorted(ADAPTERS)


def members(union: Any) -> Iterator[str]:
    """The values of `type` over the members of a union of models."""
    if typing.get_origin(union) is typing.Annotated:
        yield from members(typing.get_args(union)[0])
    elif typing.get_args(union) and not isinstance(union, type):
        for member in typing.get_args(union):
            yield from members(member)
    else:
        yield from typing.get_args(union.model_fields["type"].annotation)


def test_every_event_and_item_of_the_responses_api_is_classified() -> None:
    module = pytest.importorskip("openai.types.responses.response_stream_event")
    items = pytest.importorskip("openai.types.responses.response_output_item")
    events = set(members(module.ResponseStreamEvent))
    assert len(events) > 40
    assert events - openai_responses.TABLE.keys() == set()
    assert set(members(items.ResponseOutputItem)) - openai_responses.ITEMS.keys() == set()


def test_every_finish_reason_of_chat_completions_is_classified() -> None:
    chunk = pytest.importorskip("openai.types.chat.chat_completion_chunk")
    optional = chunk.Choice.model_fields["finish_reason"].annotation
    literal = next(arm for arm in typing.get_args(optional) if arm is not type(None))
    assert set(typing.get_args(literal)) == openai_chat.FINISH_REASONS.keys()


def test_every_block_delta_and_stop_reason_of_the_messages_api_is_classified() -> None:
    types = pytest.importorskip("anthropic.types")
    beta = pytest.importorskip("anthropic.types.beta")
    for union, table in (
        (types.RawMessageStreamEvent, anthropic_messages.TABLE),
        (beta.BetaRawContentBlockDelta, anthropic_messages.DELTAS),
        (
            pytest.importorskip(
                "anthropic.types.beta.beta_raw_content_block_start_event"
            ).ContentBlock,
            anthropic_messages.BLOCKS,
        ),
    ):
        assert set(members(union)) - set(table) == set()
    assert set(typing.get_args(beta.BetaStopReason)) == anthropic_messages.STOP_REASONS.keys()


def test_every_event_type_of_ag_ui_is_classified() -> None:
    core = pytest.importorskip("ag_ui.core.events")
    assert {member.value for member in core.EventType} - ag_ui.TABLE.keys() == set()


@pytest.mark.parametrize("format_", FORMATS)
def test_the_page_of_a_format_has_every_row_of_its_table(format_: str) -> None:
    page = (PAGES / f"{format_}.md").read_text(encoding="utf-8")
    for type_, row in ADAPTERS[format_].table.items():
        assert f"| `{type_}` | {row.treatment} | {row.meaning} |" in page, type_


@pytest.mark.parametrize("format_", FORMATS)
def test_what_the_table_calls_an_observation_becomes_nothing(format_: str) -> None:
    """Shown on the captures: no observed event of any of them becomes an envelope of a kind."""
    captures = files("doneness.fixtures.captures")
    expected = json.loads(captures.joinpath("expected.json").read_text(encoding="utf-8"))

    observed = 0
    for case in expected:
        if case["format"] != format_:
            continue
        adapter = ADAPTERS[format_]("run")
        for event in taken([captures.joinpath(case["file"]).read_bytes()], adapter):
            row = adapter.table.get(event.said)
            if row is not None and row.treatment is Treatment.OBSERVED:
                observed += 1
                assert kinds(event.envelopes) <= set(Blocking)
    assert observed or format_ == "chat"


def kinds(envelopes: typing.Iterable[Envelope]) -> set[str]:
    return {envelope["kind"] for envelope in envelopes}
