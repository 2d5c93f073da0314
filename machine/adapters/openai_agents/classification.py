"""What the adapter does with each member of the SDK's event unions (contract §4): data only.

Four unions meet here: the stream events of the OpenAI Agents SDK, the raw events of the
Responses API that they carry, the names of its run items, and the types of the items themselves.
Each member is mapped, observation only, or, because it is not listed, blocking: it becomes
`adapter.unsupported_event`, which the reducer takes for a contradiction. Nothing is guessed from
a name: `response.output_text.done` ends a text, `response.completed` ends a response, and
neither ends a run.

A test reads the unions of the installed packages and fails on a member that is not listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Final


class Take(Enum):
    """What is done with an event."""

    OBSERVE = auto()
    """Nothing: it says how far something is, or repeats what another event says."""
    TEXT = auto()
    """`text.delta`."""
    COMPLETED = auto()
    """`model.completed`; never the end of the run."""
    UNRESOLVED = auto()
    """`model.unresolved`: a response ended badly, and the owner has not concluded yet."""
    CALL = auto()
    """`tool.requested`, if `CALLS` says so for the item."""
    OUTPUT = auto()
    """`tool.finished`, if `OUTPUTS` says so for the item."""
    HANDOFF = auto()
    """Nothing, but an output for this call is no tool's."""
    BLOCK = auto()
    """`adapter.unsupported_event`: what nobody classified, or nobody can read."""


_OBSERVE: Final = Take.OBSERVE

RAW_EVENTS: Final[Mapping[str, Take]] = MappingProxyType(
    {
        "response.output_text.delta": Take.TEXT,
        "response.completed": Take.COMPLETED,
        "response.failed": Take.UNRESOLVED,
        "response.incomplete": Take.UNRESOLVED,
        "error": Take.UNRESOLVED,
        "response.error": Take.UNRESOLVED,  # not in the union; the SDK takes it for an error
        # The life of the response itself.
        "response.created": _OBSERVE,
        "response.queued": _OBSERVE,
        "response.in_progress": _OBSERVE,
        "response.compaction.compacting": _OBSERVE,
        # Its parts: what counts in them comes as a delta above or as a run item below.
        "response.output_item.added": _OBSERVE,
        "response.output_item.done": _OBSERVE,
        "response.content_part.added": _OBSERVE,
        "response.content_part.done": _OBSERVE,
        "response.output_text.done": _OBSERVE,  # repeats the deltas
        "response.output_text.annotation.added": _OBSERVE,
        # A refusal comes in place of text; the SDK raises it, and the owner says what it ends in.
        "response.refusal.delta": _OBSERVE,
        "response.refusal.done": _OBSERVE,
        "response.reasoning_summary_part.added": _OBSERVE,
        "response.reasoning_summary_part.done": _OBSERVE,
        "response.reasoning_summary_text.delta": _OBSERVE,
        "response.reasoning_summary_text.done": _OBSERVE,
        "response.reasoning_text.delta": _OBSERVE,
        "response.reasoning_text.done": _OBSERVE,
        "response.audio.delta": _OBSERVE,
        "response.audio.done": _OBSERVE,
        "response.audio.transcript.delta": _OBSERVE,
        "response.audio.transcript.done": _OBSERVE,
        # Arguments as they are written; the call itself comes as a run item.
        "response.function_call_arguments.delta": _OBSERVE,
        "response.function_call_arguments.done": _OBSERVE,
        "response.custom_tool_call_input.delta": _OBSERVE,
        "response.custom_tool_call_input.done": _OBSERVE,
        "response.shell_call_command.added": _OBSERVE,
        "response.shell_call_command.delta": _OBSERVE,
        "response.shell_call_command.done": _OBSERVE,
        "response.mcp_call_arguments.delta": _OBSERVE,
        "response.mcp_call_arguments.done": _OBSERVE,
        "response.code_interpreter_call_code.delta": _OBSERVE,
        "response.code_interpreter_call_code.done": _OBSERVE,
        # Tools that the provider runs within its response: part of that response.
        "response.shell_call_output_content.delta": _OBSERVE,
        "response.shell_call_output_content.done": _OBSERVE,
        "response.code_interpreter_call.in_progress": _OBSERVE,
        "response.code_interpreter_call.interpreting": _OBSERVE,
        "response.code_interpreter_call.completed": _OBSERVE,
        "response.file_search_call.in_progress": _OBSERVE,
        "response.file_search_call.searching": _OBSERVE,
        "response.file_search_call.completed": _OBSERVE,
        "response.web_search_call.in_progress": _OBSERVE,
        "response.web_search_call.searching": _OBSERVE,
        "response.web_search_call.completed": _OBSERVE,
        "response.image_generation_call.in_progress": _OBSERVE,
        "response.image_generation_call.generating": _OBSERVE,
        "response.image_generation_call.partial_image": _OBSERVE,
        "response.image_generation_call.completed": _OBSERVE,
        "response.mcp_call.in_progress": _OBSERVE,
        "response.mcp_call.completed": _OBSERVE,
        "response.mcp_call.failed": _OBSERVE,  # the model reads it and may mend it
        "response.mcp_list_tools.in_progress": _OBSERVE,
        "response.mcp_list_tools.completed": _OBSERVE,
        "response.mcp_list_tools.failed": _OBSERVE,
    }
)
"""Raw events of the Responses API, by type."""

OBSERVED_RAW: Final = frozenset(type_ for type_, take in RAW_EVENTS.items() if take is _OBSERVE)
"""Those of them that are observation only."""

RUN_ITEMS: Final[Mapping[str, Take]] = MappingProxyType(
    {
        "tool_called": Take.CALL,
        "tool_output": Take.OUTPUT,
        "handoff_requested": Take.HANDOFF,
        "handoff_occured": _OBSERVE,  # spelled so; another agent goes on with the same run
        "message_output_created": _OBSERVE,  # repeats the deltas; not the end of the run
        "reasoning_item_created": _OBSERVE,
        "tool_search_called": _OBSERVE,  # by the provider
        "tool_search_output_created": _OBSERVE,
        "mcp_list_tools": _OBSERVE,
        # Either a callback answers, or the run pauses, and then its owner says so.
        "mcp_approval_requested": _OBSERVE,
        "mcp_approval_response": _OBSERVE,
    }
)
"""Run items, by the name of their event."""

OBSERVED_ITEMS: Final = frozenset(name for name, take in RUN_ITEMS.items() if take is _OBSERVE)
"""Those of them that are observation only."""

CALLS: Final[Mapping[str, Take]] = MappingProxyType(
    {
        "function_call": Take.CALL,
        # Also run on this side, under a call id, with an output item of their own.
        "custom_tool_call": Take.CALL,
        "computer_call": Take.CALL,
        "local_shell_call": Take.CALL,
        "shell_call": Take.CALL,
        "apply_patch_call": Take.CALL,
        # Run by the provider within its response.
        "program": _OBSERVE,
        "web_search_call": _OBSERVE,
        "file_search_call": _OBSERVE,
        "code_interpreter_call": _OBSERVE,
        "image_generation_call": _OBSERVE,
        "mcp_call": _OBSERVE,
    }
)
"""Items of `tool_called`, by type."""

OUTPUTS: Final[Mapping[str, Take]] = MappingProxyType(
    {
        "function_call_output": Take.OUTPUT,
        "custom_tool_call_output": Take.OUTPUT,
        "computer_call_output": Take.OUTPUT,
        "local_shell_call_output": Take.OUTPUT,
        "shell_call_output": Take.OUTPUT,
        "apply_patch_call_output": Take.OUTPUT,
        "program_output": _OBSERVE,
    }
)
"""Items of `tool_output`, by type."""

OTHER_ITEMS: Final = frozenset(
    {
        "message",
        "reasoning",
        "compaction",  # the SDK's book-keeping, never streamed
        "additional_tools",  # the SDK ignores it
        "tool_search_call",
        "tool_search_output",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
    }
)
"""Item types that are neither a call nor an output; they come under run-item names of their own."""

RAW_EVENT: Final = "raw_response_event"
RUN_ITEM_EVENT: Final = "run_item_stream_event"
AGENT_EVENT: Final = "agent_updated_stream_event"

STREAM_EVENTS: Final = frozenset({RAW_EVENT, RUN_ITEM_EVENT, AGENT_EVENT})
"""The SDK's stream events, by type; the last is observation only."""
