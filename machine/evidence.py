"""What a run still lacks for *done*, read from its facts.

A status says what is known; this says what is not, so that nobody waits for ever: which evidence
would have to come, from whom, or that none can come any more and it takes a new run.
"""

from __future__ import annotations

from enum import StrEnum, unique
from types import MappingProxyType
from typing import Final, NamedTuple

from doneness.machine.reducer import Progress
from doneness.spec.vocabulary import CallState, Language, Outcome


@unique
class Lack(StrEnum):
    """Each way to lack evidence."""

    NEW_TASK = "new_task"
    NEW_RUN_AFTER_ISSUES = "new_run_after_issues"
    NEW_RUN_AFTER_END = "new_run_after_end"
    NEW_RUN_AFTER_REJECTION = "new_run_after_rejection"
    OPEN_TRANSPORT = "open_transport"
    DECISION = "decision"
    NEW_RUN_AFTER_CANCEL = "new_run_after_cancel"
    GOOD_RESPONSE = "good_response"
    CALL_RESULT = "call_result"
    OWNER_CONCLUSION = "owner_conclusion"
    ACCEPTANCE = "acceptance"


class Missing(NamedTuple):
    """One piece of evidence that is missing.

    Attributes:
        lack: Which kind.
        subject: What it is about: an issue, an outcome, the id of a call; may be empty.
    """

    lack: Lack
    subject: str = ""

    def text(self, language: Language) -> str:
        """For people."""
        return TEXTS[language][self.lack].format(self.subject)


TEXTS: Final = MappingProxyType(
    {
        "en": MappingProxyType(
            {
                Lack.NEW_TASK: "a new task: the runs of this one make no story ({})",
                Lack.NEW_RUN_AFTER_ISSUES: "a new run: this one cannot be trusted ({})",
                Lack.NEW_RUN_AFTER_END: "a new run: this one ended, {}",
                Lack.NEW_RUN_AFTER_REJECTION: "a new run: the application rejected this result",
                Lack.OPEN_TRANSPORT: "a new run, or an authoritative snapshot: this stream ended",
                Lack.DECISION: "the answer that the run waits for, and a new run to resume it",
                Lack.NEW_RUN_AFTER_CANCEL: "a new run: this one was asked to cancel",
                Lack.GOOD_RESPONSE: "a model response that completes after the bad one",
                Lack.CALL_RESULT: "the result of tool call {}",
                Lack.OWNER_CONCLUSION: "the owner's statement how the run ended (run.ended)",
                Lack.ACCEPTANCE: "the application's check of the final text (app.checked)",
            }
        ),
        "zh": MappingProxyType(
            {
                Lack.NEW_TASK: "新的任务：本任务的各次运行互相矛盾（{}）",
                Lack.NEW_RUN_AFTER_ISSUES: "新的运行：本次运行的证据有矛盾（{}）",
                Lack.NEW_RUN_AFTER_END: "新的运行：本次运行已结束（{}）",
                Lack.NEW_RUN_AFTER_REJECTION: "新的运行：应用未接受本次结果",
                Lack.OPEN_TRANSPORT: "新的运行或权威快照：本连接已结束",
                Lack.DECISION: "所等待的答复，以及据此继续的新运行",
                Lack.NEW_RUN_AFTER_CANCEL: "新的运行：本次运行已请求取消",
                Lack.GOOD_RESPONSE: "异常结束的模型响应之后，一个完整的模型响应",
                Lack.CALL_RESULT: "工具调用 {} 的结果",
                Lack.OWNER_CONCLUSION: "运行所有者对结束方式的声明（run.ended）",
                Lack.ACCEPTANCE: "应用对最终文本的验收（app.checked）",
            }
        ),
    }
)
"""What is missing, for people: language, then lack."""

_SETTLED: Final = frozenset({CallState.RETURNED, CallState.FAILED})


def missing(progress: Progress) -> tuple[Missing, ...]:
    """What is missing for *done*, in the order in which it would have to come; empty if done.

    Where nothing can lead there any more, this is one entry, and it says so.
    """
    if progress.issues:
        return (Missing(Lack.NEW_RUN_AFTER_ISSUES, ", ".join(progress.issues)),)
    if progress.terminal is not None:
        return _after_the_end(progress)
    if progress.waiting:
        return (Missing(Lack.DECISION),)
    if progress.cancel_requested:
        return (Missing(Lack.NEW_RUN_AFTER_CANCEL),)
    lacks = []
    if progress.closed:
        lacks.append(Missing(Lack.OPEN_TRANSPORT))
    if progress.unresolved and not progress.recovered:
        lacks.append(Missing(Lack.GOOD_RESPONSE))
    lacks += [
        Missing(Lack.CALL_RESULT, call_id)
        for call_id, state in progress.tools.items()
        if state not in _SETTLED
    ]
    return (*lacks, Missing(Lack.OWNER_CONCLUSION), Missing(Lack.ACCEPTANCE))


def _after_the_end(progress: Progress) -> tuple[Missing, ...]:
    if progress.terminal is Outcome.PAUSED:
        return (Missing(Lack.DECISION),)
    if progress.terminal is not Outcome.SUCCEEDED:
        return (Missing(Lack.NEW_RUN_AFTER_END, str(progress.terminal)),)
    if progress.verdict is None:
        return (Missing(Lack.ACCEPTANCE),)
    return () if progress.verdict else (Missing(Lack.NEW_RUN_AFTER_REJECTION),)
