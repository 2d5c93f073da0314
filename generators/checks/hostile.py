"""Objects that a host should never pass, and what is to become of each (P8: nothing raises).

Each entry is a way to make an object and the issue that it must leave, by hand from the contract;
None where nothing is wrong with it. They run only in this process: JSON cannot say them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn

from doneness.generators.checks.properties import Breach, Story
from doneness.generators.oracle import Move
from doneness.generators.subject import PythonSubject
from doneness.spec.vocabulary import Issue

RUN: Final = "r"


class Raises:
    """Everything asked of it raises."""

    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError("asked for equality")

    def __hash__(self) -> NoReturn:
        raise RuntimeError("asked for its hash")

    def __bool__(self) -> NoReturn:
        raise RuntimeError("asked for its truth")

    def __repr__(self) -> NoReturn:
        raise RuntimeError("asked for its text")

    def __len__(self) -> NoReturn:
        raise RuntimeError("asked for its length")

    def __iter__(self) -> Iterator[object]:
        raise RuntimeError("asked for its items")

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(f"asked for {name}")

    @property  # type: ignore[misc] # a checker of types rightly refuses this lie
    def __class__(self) -> NoReturn:  # type: ignore[override] # likewise
        raise RuntimeError("asked for its class")


class RaisingText(str):
    """Text whose comparisons and methods raise; it holds what it holds."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError("asked for equality")

    def __str__(self) -> NoReturn:
        raise RuntimeError("asked for text")

    def __len__(self) -> NoReturn:
        raise RuntimeError("asked for its length")

    def encode(self, *_args: object, **_kwargs: object) -> NoReturn:
        """Raise."""
        raise RuntimeError("asked for bytes")

    def isascii(self) -> NoReturn:
        """Raise."""
        raise RuntimeError("asked for ASCII")


class LyingText(str):
    """Text that claims to be equal to everything."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


class RaisingObject(dict[str, object]):
    """An object whose methods raise; it holds what it holds."""

    def keys(self) -> NoReturn:
        """Raise."""
        raise RuntimeError("asked for keys")

    def items(self) -> NoReturn:
        """Raise."""
        raise RuntimeError("asked for items")

    def __getitem__(self, key: object) -> NoReturn:
        raise RuntimeError("asked for a member")

    def __iter__(self) -> NoReturn:
        raise RuntimeError("asked to iterate")

    def __len__(self) -> NoReturn:
        raise RuntimeError("asked for its length")


class LyingObject(dict[str, object]):
    """An object that holds one thing and answers another."""

    def __getitem__(self, key: str) -> object:
        return _event()[key]


class RaisingInteger(int):
    """An integer whose comparisons raise."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> NoReturn:
        raise RuntimeError("asked for equality")

    def __lt__(self, other: object) -> NoReturn:
        raise RuntimeError("asked for order")

    def __index__(self) -> NoReturn:
        raise RuntimeError("asked for its value")


class RaisingList(list[object]):
    """A list that cannot be iterated."""

    def __iter__(self) -> NoReturn:
        raise RuntimeError("asked to iterate")


class RaisingTuple(tuple[object, ...]):
    """A tuple that cannot be iterated."""

    __slots__ = ()

    def __iter__(self) -> NoReturn:
        raise RuntimeError("asked to iterate")


class RaisingNumber(float):
    """A float that cannot be reckoned with."""

    __slots__ = ()

    def __sub__(self, other: object) -> NoReturn:
        raise RuntimeError("asked for a difference")

    def __repr__(self) -> NoReturn:
        raise RuntimeError("asked for its text")


class OtherText(str):
    """Text that is equal to nothing, so that an object can hold it beside the same text."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 7


def _event(**changes: object) -> dict[str, object]:
    event: dict[str, object] = {
        "run": RUN,
        "id": "r:1",
        "seq": 1,
        "kind": "text.delta",
        "data": {"text": "x"},
    }
    return {**event, **changes}


def _deep(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = [value]
    return value


def _deep_object(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


def _shared(doublings: int) -> object:
    value: object = "x"
    for _ in range(doublings):
        value = [value, value]
    return value


def _cycle() -> object:
    value: list[object] = []
    value.append({"again": value})
    return value


def _keyed(key: object) -> dict[Any, object]:
    return {key if name == str.__str__(key) else name: value for name, value in _event().items()}


BAD = Issue.BAD_PAYLOAD_OR_TRANSITION

HOSTILE: Final[Mapping[str, tuple[Callable[[], object], Issue | None]]] = {
    "None": (lambda: None, Issue.BAD_ENVELOPE),
    "a type": (lambda: dict, Issue.BAD_ENVELOPE),
    "an object that raises": (Raises, Issue.BAD_ENVELOPE),
    "run raises": (lambda: _event(run=Raises()), Issue.BAD_ENVELOPE),
    "id raises": (lambda: _event(id=Raises()), Issue.BAD_ENVELOPE),
    "seq raises": (lambda: _event(seq=Raises()), Issue.BAD_ENVELOPE),
    "kind raises": (lambda: _event(kind=Raises()), Issue.BAD_ENVELOPE),
    "data raises": (lambda: _event(data=Raises()), Issue.BAD_ENVELOPE),
    "text raises": (lambda: _event(data={"text": Raises()}), Issue.NOT_JSON),
    "a key that raises": (lambda: {**_event(), RaisingText("more"): 1}, Issue.BAD_ENVELOPE),
    "an envelope that lies": (lambda: LyingObject(_event(kind="future")), Issue.UNKNOWN_EVENT),
    "an envelope whose methods raise": (lambda: RaisingObject(_event()), None),
    "data whose methods raise": (lambda: _event(data=RaisingObject(text="x")), None),
    "run that raises": (lambda: _event(run=RaisingText(RUN)), None),
    "run that lies": (lambda: _event(run=LyingText(RUN)), None),
    "id that raises": (lambda: _event(id=RaisingText("r:1")), None),
    "kind that raises": (lambda: _event(kind=RaisingText("text.delta")), None),
    "kind that lies": (lambda: _event(kind=LyingText("future")), Issue.UNKNOWN_EVENT),
    "text that raises": (lambda: _event(data={"text": RaisingText("x")}), None),
    "seq that raises": (lambda: _event(seq=RaisingInteger(1)), None),
    "an empty id that lies": (lambda: _event(id=LyingText("")), Issue.BAD_ENVELOPE),
    "a data key that raises": (lambda: _event(data={RaisingText("text"): "x"}), None),
    "an envelope key that raises": (lambda: _keyed(RaisingText("kind")), None),
    "a list that raises": (lambda: _event(data={"text": RaisingList(["x"])}), BAD),
    "a tuple that raises": (lambda: _event(data={"text": RaisingTuple("x")}), BAD),
    "a number that raises": (lambda: _event(data={"text": RaisingNumber(0.5)}), BAD),
    "run twice": (lambda: {**_event(), OtherText("run"): RUN}, Issue.BAD_ENVELOPE),
    "text twice": (lambda: _event(data={"text": "x", OtherText("text"): "x"}), Issue.NOT_JSON),
    "5,000 lists": (lambda: _event(data={"text": _deep(5_000)}), BAD),
    "5,000 objects": (lambda: _event(data={"text": _deep_object(5_000)}), BAD),
    "2 to the 12 leaves": (lambda: _event(data={"text": _shared(12)}), BAD),
    "a cycle": (lambda: _event(data={"text": _cycle()}), Issue.NOT_JSON),
    "an integer of 10,000 digits": (lambda: _event(data={"text": 10**10_000}), Issue.NOT_JSON),
    "seq of 10,000 digits": (lambda: _event(seq=10**10_000), Issue.NOT_JSON),
    "half a surrogate pair": (lambda: _event(data={"text": "\udc00"}), Issue.NOT_JSON),
    "kind with half a pair": (lambda: _event(kind="\ud800"), Issue.NOT_JSON),
    "NaN": (lambda: _event(data={"text": float("nan")}), Issue.NOT_JSON),
    "a key that is None": (lambda: _event(data={None: "x"}), Issue.NOT_JSON),
    "bytes": (lambda: _event(data={"text": b"x"}), Issue.NOT_JSON),
    "a tuple": (lambda: _event(data={"text": ("x",)}), BAD),
}

DEEP: Final[Mapping[str, tuple[Callable[[], object], Issue | None]]] = {
    "100,000 lists": (lambda: _event(data={"text": _deep(100_000)}), BAD),
    "100,000 objects": (lambda: _event(data={"text": _deep_object(100_000)}), BAD),
}
"""These take a second each; what they show beside the shallower ones is that nothing recurses."""

ALL: Final = {**HOSTILE, **DEEP}

OWN: Final[Mapping[str, tuple[Callable[[], object], Issue | None]]] = {
    "2 to the 80 leaves": (lambda: _event(data={"text": _shared(80)}), BAD),
}
"""Asked of our own reducer alone: no JSON text could hold it, and whoever writes one takes for ever
over it, in memory without end."""


def in_process(subject: object) -> PythonSubject | None:
    """The subject itself, if any object can be fed to it; None if events reach it as JSON."""
    inner = getattr(subject, "inner", subject)
    return inner if isinstance(inner, PythonSubject) and not inner.json_only else None


def raised(subject: PythonSubject) -> list[Breach]:
    """Where a subject raises, when it is fed with a hostile object as its first event.

    The first that it hangs on is the last: a hang costs time, and one is enough.
    """
    found = []
    for name, (make, _issue) in ALL.items():
        event = make()
        shown = subject.after(RUN, event)
        if "failure" in shown:
            story = Story(RUN, (), (Move(name, event),), (shown,))
            found.append(Breach(story, 0, f"{name}: {shown['failure']}"))
        if "verdict of the program" in shown:
            break
    return found


def unexpected(subject: PythonSubject, *, deep: bool = True) -> list[str]:
    """What a subject makes of hostile objects that it should not, a line each.

    This is asked of the project's own reducer. The contract says of others only that nothing
    raises: whether an instance of a subclass of `dict` is an object is theirs to say.
    """
    found = []
    for name, (make, issue) in {**(ALL if deep else HOSTILE), **OWN}.items():
        shown = subject.after(RUN, make())
        expected = "unknown" if issue else "running"
        if "failure" in shown:
            found.append(f"{name}: {shown['failure']}")
        elif shown["status"] != expected:
            found.append(f"{name}: expected {expected}, shown {shown['status']}")
        elif "issues" in shown and shown["issues"] != ([issue] if issue else []):
            found.append(f"{name}: expected the issue {issue}, shown {shown['issues']}")
    return found
