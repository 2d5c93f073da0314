"""The producer and the acceptance, against the contract's sentences (§4) as tables."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.moves import BY_NAME, FINAL_TEXT, play
from doneness.generators.oracle import Oracle
from doneness.spec.vocabulary import Kind, Outcome

RUN: Final = "run-A"

# The owner's conclusion: the first line whose questions are answered so decides. `*`: any answer.
QUESTIONS: Final = (
    "runtime_failed", "exhausted", "is_complete", "cancel_requested", "interruptions", "final_text",
)  # fmt: skip
ANY: Final = "*"
NO_TEXT: Final = (None,)
CONCLUSIONS: Final[tuple[tuple[tuple[Any, ...], Outcome | None], ...]] = (
    ((True, ANY, ANY, ANY, ANY, ANY), Outcome.FAILED),
    ((False, False, ANY, ANY, ANY, ANY), None),
    ((False, ANY, False, ANY, ANY, ANY), None),
    ((False, True, True, True, ANY, ANY), Outcome.CANCELLED),
    ((False, True, True, False, True, ANY), Outcome.PAUSED),
    ((False, True, True, False, False, NO_TEXT), None),
    ((False, True, True, False, False, ANY), Outcome.SUCCEEDED),
)

DIGESTS: Final = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "合成巡检：已检查 2 项": "5ad405cc35fd834b36815b3a56fb80adf9068b6fea2aa2188db2b00fa27a74bc",
    "合成巡检：只有 1 项": "cc95ce132ddc0f0e813c53273743a4aa3b6fe6c6af8b047f7f2cea623f4bf139",
}


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """What the producer or the acceptance does that it should not."""
    yield from _envelopes(machine.producer.Producer)
    yield from _conclusions(machine.producer.Producer)
    yield from _verdicts(machine)


_EMITTED: Final[tuple[tuple[str, dict[str, object]], ...]] = (
    ("text.delta", {"text": "x"}),
    ("approval.wait", {}),
    ("adapter.x", {"kind": 1}),
    (Kind.CANCEL_REQUESTED, {}),
)


def _envelopes(producer_class: Any) -> Iterator[str]:
    producer = producer_class(RUN)
    if hasattr(producer, "__dict__"):
        yield "a producer can be given attributes that it does not have"
    if (producer.run, producer.last_seq) != (RUN, 0):
        yield "a new producer is not bound to its run, or has a number already"
    for seq, (kind, data) in enumerate(_EMITTED, 1):
        event = producer.emit(kind, **data)
        expected = {"run": RUN, "id": f"{RUN}:{seq}", "seq": seq, "kind": kind, "data": data}
        if event != expected or type(event["kind"]) is not str or producer.last_seq != seq:
            yield f"emitted {event}, expected {expected}"
    if _raised(setattr, producer, "last_seq", 7) is not AttributeError:
        yield "the number of a producer can be set by others"
    for no_kind, error in (("", ValueError), (1, TypeError), (None, TypeError)):
        if _raised(producer.emit, no_kind) is not error or producer.last_seq != len(_EMITTED):
            yield f"kind {no_kind!r}: expected {error.__name__}, and no number used"
    for run, error in (("", ValueError), (1, TypeError), (None, TypeError), (b"r", TypeError)):
        if _raised(producer_class, run) is not error:
            yield f"run {run!r}: expected {error.__name__}"


def _conclusions(producer_class: Any) -> Iterator[str]:
    answers: list[tuple[object, ...]] = [(False, True)] * 4
    answers += [(False, True, (), ("a",), []), (None, "", "text")]
    for answer in product(*answers):
        producer = producer_class(RUN)
        event = producer.owner_finished(**dict(zip(QUESTIONS, answer, strict=True)))
        outcome = concluded(answer)
        text = answer[-1] if outcome is Outcome.SUCCEEDED else None
        expected = outcome and {
            "run": RUN,
            "id": f"{RUN}:1",
            "seq": 1,
            "kind": "run.ended",
            "data": {"outcome": str(outcome), "final_text": text},
        }
        kinds = [type(event["data"]["outcome"])] if event else []
        if event != expected or producer.last_seq != len(kinds) or kinds not in ([], [str]):
            yield f"{dict(zip(QUESTIONS, answer, strict=True))}: got {event}, expected {outcome}"


def concluded(answer: tuple[Any, ...]) -> Outcome | None:
    """The outcome that the table gives for an answer to each question."""
    for wanted, outcome in CONCLUSIONS:
        if all(
            want == ANY or (given is None if want == NO_TEXT else bool(given) is want)
            for want, given in zip(wanted, answer, strict=True)
        ):
            return outcome
    raise LookupError(f"no line decides {answer}")


def _verdicts(machine: SimpleNamespace) -> Iterator[str]:
    acceptance, digest_of = machine.acceptance.acceptance, machine.acceptance.digest_of
    for text, digest in DIGESTS.items():
        progress = machine.reducer.Progress(RUN)
        event = machine.producer.Producer(RUN).emit(
            "run.ended", outcome="succeeded", final_text=text
        )
        progress.feed(event)
        if digest_of(text) != digest:
            yield f"{text!r}: digest {digest_of(text)}"
        for expected, arguments in (
            (text == "合成巡检：已检查 2 项", ()),
            (True, (text,)),
            (False, (text + " ",)),
        ):
            shown = acceptance(progress, *arguments)
            if shown != {"digest": digest, "ok": expected} or shown["ok"] is not expected:
                yield f"{text!r} against {arguments}: {shown}"
    for names in ((), ("text",), ("failed with text",), ("paused with text",), ("EOF",)):
        progress, oracle = machine.reducer.Progress(RUN), Oracle(RUN)
        for move in play(oracle, [BY_NAME[name] for name in names]):
            progress.feed(move.event) if move.event else progress.close_transport()
        if _raised(acceptance, progress) is not machine.acceptance.NoSuccessError:
            yield f"a verdict on {names or 'nothing'}, expected a NoSuccessError"
    if digest_of(FINAL_TEXT) != sha256(b"F").hexdigest():
        yield f"{FINAL_TEXT!r}: another digest"
    if not issubclass(machine.acceptance.NoSuccessError, ValueError):
        yield "NoSuccessError is no ValueError"


def _raised(function: Any, *arguments: object) -> type[Exception] | None:
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001 # which one is part of what is expected
        return type(error)
    return None
