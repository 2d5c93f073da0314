"""What a reducer of ours tells beside its observables, and when: whatever exploration leaves out.

Reading at every step instead of at the end, labels, copies that are independent, what is
remembered of an object that its owner changes later, and who may be bound to it at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final

from doneness.generators.checks.hostile import LyingText, RaisingText
from doneness.spec.vocabulary import LABELS, Issue, Status

RUN: Final = "run-A"
LONG_RUN: Final = 120
PIECES: Final = ("x", "", "合", "yz", "\U0001f600")


class LyingData(dict[str, object]):
    """A payload that holds one text and answers another."""

    def __getitem__(self, key: str) -> object:
        return "lie"


def unexpected(machine: SimpleNamespace) -> Iterator[str]:
    """What it tells wrongly, a line each."""
    for check in (
        _growth,
        _labels,
        _bound,
        _copies,
        _owns,
        _gaps,
        _remembers,
        _numbers,
        _counts,
        _crossed,
        _lines,
    ):
        for line in check(machine.reducer.Progress):
            yield f"{check.__name__.strip('_')}: {line}"


def text_event(seq: int, text: str = "x", **changes: object) -> dict[str, Any]:
    """A text fragment as its producer numbers it."""
    event = {"run": RUN, "id": f"{RUN}:{seq}", "seq": seq, "kind": "text.delta"}
    return {**event, "data": {"text": text}, **changes}


def _growth(progress_class: Any) -> Iterator[str]:
    progress, expected = progress_class(RUN), ""
    if progress.text != "" or progress.text != "":
        yield "text before the first piece"
    for seq in range(1, 40):
        piece = PIECES[seq % len(PIECES)]
        progress.feed(text_event(seq, piece))
        expected += piece
        for _ in range(seq % 3):
            if progress.text != expected:
                yield f"{progress.text!r} after {seq} pieces, expected {expected!r}"


def _labels(progress_class: Any) -> Iterator[str]:
    ends = {"cancelled": Status.CANCELLED, "failed": Status.FAILED, "paused": Status.WAITING}
    for outcome, status in ends.items():
        event = text_event(1, kind="run.ended", data={"outcome": outcome, "final_text": None})
        for language, labels in LABELS.items():
            progress = progress_class(RUN, language=language)
            if progress.message != labels[Status.RUNNING]:
                yield f"{language}: {progress.message}"
            progress.feed(event)
            if progress.message != labels[status]:
                yield f"{language}: {progress.message} for {status}"
        progress = progress_class(RUN)
        if progress.message != LABELS["zh"][Status.RUNNING]:
            yield "the labels are not Chinese by default"


def _bound(progress_class: Any) -> Iterator[str]:
    for run, error in (
        ("", ValueError),
        ("\ud800", ValueError),
        (1, TypeError),
        (None, TypeError),
        (b"r", TypeError),
    ):
        if _raised(progress_class, run) is not error:
            yield f"run {run!r}: expected {error.__name__}"
    if _raised(lambda: progress_class(RUN, language="fr")) is not ValueError:
        yield "a language without labels: expected a ValueError"
    for run in ("r", "运行", "a:1", "\U0001f600", "r" * 1000):
        if progress_class(run).run != run:
            yield f"bound to another run than {run[:20]!r}"


def _copies(progress_class: Any) -> Iterator[str]:
    progress = progress_class(RUN)
    progress.feed(text_event(1, kind="tool.requested", data={"call_id": "c"}))
    progress.feed(text_event(2, kind="model.completed", data={"response_id": "r"}))
    progress.feed(text_event(4))
    progress.issues.clear()
    progress.tools.clear()
    progress.model_responses.clear()
    if (len(progress.issues), progress.tools, progress.model_responses) != (
        1,
        {"c": "requested"},
        ["r"],
    ):
        yield "what was read can be changed from outside"


def _owns(progress_class: Any) -> Iterator[str]:
    """What it keeps is plain text, whatever was given; and it has no room for more."""
    progress = progress_class(RUN)
    if hasattr(progress, "__dict__"):
        yield "it can be given attributes that it does not have"
    given = RaisingText("r")
    progress.feed(text_event(1, kind="model.completed", data={"response_id": given}))
    progress.feed(text_event(2, kind="tool.requested", data={"call_id": given}))
    progress.feed(text_event(3, kind="tool.failed", data={"call_id": given}))
    progress.feed(text_event(4, given))
    end = {"outcome": RaisingText("succeeded"), "final_text": given}
    progress.feed(text_event(5, kind="run.ended", data=end))
    kept = [*progress.model_responses, *progress.tools, progress.text, progress.final_text]
    if [type(one) for one in kept] != [str] * 4:
        yield f"keeps {[type(one).__name__ for one in kept]}"
    progress.feed(text_event(1, run=LyingText("other")))
    if progress.foreign != 1:
        yield "an event whose run claims to be equal is not foreign"
    for seq in (True, 1.0):
        other = progress_class(RUN)
        other.feed(text_event(1, id="free") | {"seq": seq})
        if other.issues != [Issue.BAD_ENVELOPE]:
            yield f"seq {seq!r} under a free id is taken for a number"
    other = progress_class(RUN)
    other.feed(text_event(1, id=LyingText("free")))
    other.feed(text_event(1, id="free"))
    lied = progress_class(RUN)
    lied.feed(text_event(1, data=LyingData(text="y")))
    if (other.duplicates, other.text, lied.text) != (1, "x", "y"):
        yield "an id or a payload that lies is taken at its word"
    late = progress_class(RUN)
    late.feed(text_event(1, run=LyingText("other")))
    if (late.foreign, late.text) != (1, ""):
        yield "a fragment whose run claims to be equal is not foreign"


def _gaps(progress_class: Any) -> Iterator[str]:
    """Behind a gap everything is remembered as before."""
    for kind in ({}, {"kind": "approval.wait", "data": {}}):
        progress = progress_class(RUN)
        fed = [text_event(1), text_event(3, id="gap") | kind, text_event(4, "y", id="free")]
        for event in (*fed, text_event(5, "z", id="other"), *fed):
            progress.feed(event)
        if progress.duplicates != len(fed) or progress.issues != [Issue.SEQUENCE_GAP_OR_REORDER]:
            yield f"{progress.duplicates} duplicates, {progress.issues}"


def _remembers(progress_class: Any) -> Iterator[str]:
    for event in (
        text_event(1),
        text_event(1, id="free"),
        text_event(1, kind="model.completed", data={"response_id": "r"}),
        text_event(1, kind="future", data={"deep": [{"a": [1]}]}),
    ):
        progress, before = progress_class(RUN), json.loads(json.dumps(event))
        progress.feed(event)
        deep = event["data"].get("deep")
        if deep:
            deep[0]["a"].append(2)
        event["data"]["text"] = "y"
        event["data"]["more"] = 1
        progress.feed(before)
        if progress.duplicates != 1 or Issue.ID_CONFLICT in progress.issues:
            yield f"{before['kind']}: not remembered as it was when it was fed"
        progress.feed(event)
        if Issue.ID_CONFLICT not in progress.issues:
            yield f"{before['kind']}: its content is not remembered"


def _long_runs() -> Iterator[list[dict[str, Any]]]:
    """Runs of fragments, most of them under the ids that a producer gives, or under free ones."""
    wait: dict[str, Any] = {"kind": "approval.wait", "data": {}}
    completed: dict[str, Any] = {"kind": "model.completed", "data": {"response_id": "r"}}
    choices: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
        ((), {}),
        ((7,), {"id": "free"}),
        ((1,), {"id": "free"}),
        ((1,), {"id": f"{RUN}:late"}),
        ((2, 3, 50), completed),
        ((2, 3, 50), wait),
        ((1, 50), wait),
    )
    for others, changes in choices:
        yield [
            text_event(seq, PIECES[seq % len(PIECES)]) | (changes if seq in others else {})
            for seq in range(1, LONG_RUN + 1)
        ]
    for late in (1, 2, 40):
        ids = {late: f"{RUN}:late"}
        yield [
            text_event(seq, PIECES[seq % len(PIECES)], id=ids.get(seq, f"free-{seq}"))
            for seq in range(1, LONG_RUN + 1)
        ]


def _numbers(progress_class: Any) -> Iterator[str]:
    """Every fragment of a long run, again and changed; ids that look like a producer's."""
    for fed in _long_runs():
        progress = progress_class(RUN)
        for event in fed:
            progress.feed(event)
        for count, event in enumerate(fed, 1):
            progress.feed(event)
            if progress.duplicates != count or progress.issues:
                yield f"{event['id']} is not known again"
                return
        for event in fed:
            other = progress_class(RUN)
            for one in fed[: event["seq"]]:
                other.feed(one)
            other.feed({**event, "data": {"text": "other"}})
            if other.issues != [Issue.ID_CONFLICT]:
                yield f"{event['id']} with another text: {other.issues}"
                return
    for suffix in (
        "0",
        "01",
        "001",
        "+1",
        " 1",
        "1 ",
        "1_0",
        "-1",
        "\u0661",
        "1.0",
        "x",
        "",
        "121",
        "1" * 5000,
    ):
        progress = progress_class(RUN)
        for seq in range(1, 12):
            progress.feed(text_event(seq))
        progress.feed(text_event(12, "new", id=f"{RUN}:{suffix}"))
        progress.feed(text_event(13, "new", id=f"{RUN}:{suffix}:"))
        if progress.issues or progress.duplicates or progress.text != "x" * 11 + "newnew":
            yield f"the id {RUN}:{suffix} is taken for another: {progress.issues}"
        progress.feed(text_event(12, "new", id=f"{RUN}:{suffix}"))
        if progress.duplicates != 1:
            yield f"the id {RUN}:{suffix} is not known again"


_LARGE: Final = 10**18 - 3
_COUNTS: Final[tuple[tuple[Callable[[int], str], tuple[str, ...]], ...]] = (
    # How a producer names its nth event, and names that look like one of the first 30.
    (lambda n: f"e{n}", ("e0", "e31", "e01", "e+1", "e1 ", "e", "E1", "e\u0661")),
    (lambda n: f"e{n - 1}", ("e30", "e-1", "e00", "e01", "e", "0", "e9.0")),
    (lambda n: f"{n + 4}", ("4", "35", "05", "", "5.", "-5", "\u0665")),
    (lambda n: f"x:{n + 95}", ("x:95", "x:126", "x:096", "x:0")),
    (lambda n: f"e{n:04}", ("e1", "e01", "e0031", "e00001", "e0000")),
    (lambda n: f"{n:03}-e", ("1-e", "001", "031-e")),
    (lambda n: f"e{_LARGE + n}", (f"e{_LARGE}", f"e{_LARGE + 31}", f"e0{_LARGE + 1}")),
    (lambda n: f"1{'0' * 30}{n:02}", ("1", "01", f"1{'0' * 31}", f"1{'0' * 30}31")),
    (lambda n: f"e{n}~", ("e~", "e0~", "e31~")),
    (lambda n: "合" * n, ("", "合" * 31, "合" * 30 + "1")),
    (lambda n: f"{n * n}", ("2", "0", "961")),
    (lambda n: f"e{n if n % 9 else 'x'}{'' if n % 9 else n}", ("e9", "e18", "e31", "ex0")),
    (lambda n: f"e{n if n < 20 else 50 - n}'", ("e0'", "e31'", "e1")),
    (lambda n: f"e{n if n < 20 else n + 1}", ("e20", "e0", "e32")),
)


def _counts(progress_class: Any) -> Iterator[str]:
    """Ids that count up in whatever way are known again, and no other is taken for one."""
    wait: dict[str, Any] = {"kind": "approval.wait", "data": {}}
    for name, alike in _COUNTS:
        for waits in ((), (1,), (2, 12), (25,)):
            fed = [
                text_event(n, f"{n},", id=name(n)) | (wait if n in waits else {})
                for n in range(1, 31)
            ]
            for given in (fed, [json.dumps(event).encode() for event in fed]):
                progress = _after(progress_class, given)
                for count, event in enumerate(fed, 1):
                    progress.feed(event)
                    if progress.duplicates != count or progress.issues:
                        yield f"{event['id']} is not known again"
                        return
            for event, other in zip(fed, [*fed[10:], *fed[:10]], strict=True):
                for change in (
                    {"data": {"text": "other"}},
                    {"seq": other["seq"]},
                    {key: other[key] for key in ("seq", "kind", "data")},
                    {"seq": 31},
                    {**text_event(31), "id": event["id"]},
                ):
                    progress = _after(progress_class, fed)
                    progress.feed(event | change)
                    if progress.issues != [Issue.ID_CONFLICT] or progress.text.endswith("x"):
                        yield f"{event['id']} with {change}: {progress.issues}"
                        return
            for id_ in alike:
                progress = _after(progress_class, fed)
                progress.feed(text_event(31, "new", id=id_))
                known = () if id_ else (Issue.BAD_ENVELOPE,)
                if progress.duplicates or (*progress.issues,) != known:
                    yield f"{id_!r} is taken for another: {progress.issues}"


def _crossed(progress_class: Any) -> Iterator[str]:
    """The id of one fragment with all else of another, for ids that stop counting on the way."""
    fed = [text_event(n, f"{n}", id=f"e{n}" if n < 5 else "e" * n) for n in range(1, 11)]
    for one in fed:
        for other in fed:
            progress = _after(progress_class, fed)
            progress.feed(other | {"id": one["id"]})
            expected = (1, []) if one is other else (0, [Issue.ID_CONFLICT])
            if (progress.duplicates, progress.issues) != expected:
                yield f"{one['id']} with all else of {other['id']}: {progress.issues}"


def _after(progress_class: Any, given: list[Any]) -> Any:
    progress = progress_class(RUN)
    for one in given:
        (progress.feed_json if isinstance(one, bytes) else progress.feed)(one)
    return progress


_GOOD: Final = '{"run":"run-A","id":"i","seq":1,"kind":"text.delta","data":{"text":"x"}}'

# A line, or the good one with a part replaced; and the issue that it leaves, None where it is good.
_LINES: Final[tuple[tuple[object, str | None], ...]] = (
    (("", ""), None),
    (('{"run"', ' \n{ "run" '), None),
    (('"x"', '"\\ud800"'), Issue.NOT_JSON),
    (('"x"', "1e999"), Issue.NOT_JSON),
    (('"x"', "NaN"), Issue.BAD_ENVELOPE),
    (("1,", "1.0,"), Issue.BAD_ENVELOPE),
    (("1,", "true,"), Issue.BAD_ENVELOPE),
    (("}}", "}}x"), Issue.BAD_ENVELOPE),
    (("x", "\xff"), Issue.BAD_ENVELOPE),
    (('"i"', '""'), Issue.BAD_ENVELOPE),
    (('{"text":"x"}', "[]"), Issue.BAD_ENVELOPE),
    (('"x"', "1"), Issue.BAD_PAYLOAD_OR_TRANSITION),
    (('"x"', '"x","y":1'), Issue.BAD_PAYLOAD_OR_TRANSITION),
    (b"", Issue.BAD_ENVELOPE),
    (None, Issue.BAD_ENVELOPE),
    (object(), Issue.BAD_ENVELOPE),
)


def _lines(progress_class: Any) -> Iterator[str]:
    for given, issue in _LINES:
        line = _GOOD.replace(*given).encode("latin-1") if isinstance(given, tuple) else given
        progress = progress_class(RUN)
        progress.feed_json(line)
        if progress.issues != ([issue] if issue else []) or progress.text != ("x" * (not issue)):
            yield f"{line!r:.90}: {progress.issues}, expected {issue}"


def _raised(function: Any, *arguments: object) -> type[Exception] | None:
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001 # which one is part of what is expected
        return type(error)
    return None
