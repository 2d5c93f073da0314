"""The words of the contract: names and labels, no rules.

This is the one module that both minds read. The declared tables and the hand-written machine
must agree on how things are *called*; what is *legal* each of them says for itself.
"""

from __future__ import annotations

from enum import StrEnum, unique
from types import MappingProxyType
from typing import Final, Literal


@unique
class Kind(StrEnum):
    """What an envelope may say (contract §2)."""

    TEXT_DELTA = "text.delta"
    MODEL_COMPLETED = "model.completed"
    MODEL_UNRESOLVED = "model.unresolved"
    TOOL_REQUESTED = "tool.requested"
    TOOL_STARTED = "tool.started"
    TOOL_FINISHED = "tool.finished"
    TOOL_FAILED = "tool.failed"
    APPROVAL_WAIT = "approval.wait"
    CANCEL_REQUESTED = "cancel.requested"
    RUN_ENDED = "run.ended"
    APP_CHECKED = "app.checked"


@unique
class Outcome(StrEnum):
    """How the host says that a run ended (contract §2, `run.ended`)."""

    SUCCEEDED = "succeeded"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


@unique
class CallState(StrEnum):
    """Where one tool call stands (contract §2)."""

    REQUESTED = "requested"
    RUNNING = "running"
    RETURNED = "returned"
    FAILED = "failed"


@unique
class Status(StrEnum):
    """What a person is shown (contract §3)."""

    RUNNING = "running"
    WAITING = "waiting"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    UNKNOWN = "unknown"
    CHECKING = "checking"
    REJECTED = "rejected"
    DONE = "done"


@unique
class Issue(StrEnum):
    """Why the evidence of a run cannot be trusted (contract §3); never erased."""

    BAD_ENVELOPE = "bad_envelope"
    NOT_JSON = "not_json"
    ID_CONFLICT = "id_conflict"
    SEQUENCE_GAP_OR_REORDER = "sequence_gap_or_reorder"
    EVENT_AFTER_TRANSPORT_CLOSE = "event_after_transport_close"
    EVENT_AFTER_TERMINAL = "event_after_terminal"
    UNKNOWN_EVENT = "unknown_event"
    BAD_PAYLOAD_OR_TRANSITION = "bad_payload_or_transition"


Language = Literal["en", "zh"]

LABELS: Final = MappingProxyType(
    {
        "en": MappingProxyType(
            {
                Status.RUNNING: "In progress, not finished",
                Status.WAITING: "Waiting for approval, the task is not finished",
                Status.CANCELLING: "Cancel requested, waiting for confirmation of the end",
                Status.CANCELLED: "Cancelled; check tool effects that already happened",
                Status.FAILED: "The run failed, the task is not finished",
                Status.INCOMPLETE: "The response is incomplete, the task is not finished",
                Status.UNKNOWN: "Not enough evidence of completion, check the result of the run",
                Status.CHECKING: "The run ended, waiting for the application's check",
                Status.REJECTED: "The run ended, the application's check did not pass",
                Status.DONE: "Done: the run ended and the local check passed",
            }
        ),
        "zh": MappingProxyType(
            {
                Status.RUNNING: "正在处理，尚未完成",
                Status.WAITING: "等待批准，任务尚未完成",
                Status.CANCELLING: "已请求取消，正在等待结束确认",
                Status.CANCELLED: "已取消；已发生的工具效果需另行核对",
                Status.FAILED: "运行失败，任务未完成",
                Status.INCOMPLETE: "响应未完整生成，任务未完成",
                Status.UNKNOWN: "完成证据不足，请核对运行结果",
                Status.CHECKING: "运行已结束，等待应用验收",
                Status.REJECTED: "运行已结束，应用验收未通过",
                Status.DONE: "已完成：运行结束且本地验收通过",
            }
        ),
    }
)
"""The label of each status, for people: language, then status."""
