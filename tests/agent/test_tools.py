"""Tools: the schema follows the signature, and whatever goes wrong is an outcome."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from doneness.machine.agent.calls import parsed_arguments
from doneness.machine.agent.tools import OUTPUT_CHARS_MAX, Tools


def book(
    city: Annotated[str, Field(description="where to")],
    nights: int = 1,
    *,
    room: Literal["single", "double"] = "single",
) -> dict[str, object]:
    """Book a room."""
    return {"city": city, "nights": nights, "room": room}


def test_the_schema_follows_the_signature() -> None:
    (schema,) = Tools(book).schemas
    function: Any = schema["function"]
    assert function["name"] == "book"
    assert function["description"] == "Book a room."
    parameters = function["parameters"]
    assert parameters["required"] == ["city"]
    assert parameters["properties"]["city"]["description"] == "where to"
    assert parameters["properties"]["nights"]["default"] == 1
    assert parameters["properties"]["room"]["enum"] == ["single", "double"]
    assert parameters["additionalProperties"] is False


def test_arguments_are_validated_and_defaults_are_the_functions_own() -> None:
    tools = Tools(book)
    assert tools.call("book", '{"city": "杭州"}').output == (
        '{"city":"杭州","nights":1,"room":"single"}'
    )
    refused = tools.call("book", '{"city": 3, "room": "suite", "x": 1}')
    assert refused.is_error
    assert all(name in refused.output for name in ("city", "room", "x"))


class _HostileError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def buggy(kind: str) -> object:
    match kind:
        case "raise":
            raise RuntimeError("out of order")
        case "hostile":
            raise _HostileError
        case "exit":
            raise SystemExit(3)
        case "stop":
            raise StopIteration
        case "recursion":
            return buggy(kind)
        case "unserialisable":
            return object()
        case "surrogate":
            return "a\ud800"
        case "nested surrogate":
            return ["a\ud800"]
        case "long":
            return "x" * (OUTPUT_CHARS_MAX + 5)
        case "infinite":
            return [math.inf]
    return None


@pytest.mark.parametrize(
    ("kind", "is_error", "output"),
    [
        ("raise", True, "RuntimeError: out of order"),
        ("hostile", True, "_HostileError"),
        ("exit", True, "SystemExit: 3"),
        ("stop", True, "StopIteration"),
        ("recursion", True, "RecursionError"),
        ("unserialisable", True, "PydanticSerializationError"),
        ("surrogate", False, "a\ufffd"),
        ("nested surrogate", True, "PydanticSerializationError"),
        ("long", False, "… (5 more characters cut off)"),
        ("infinite", False, '["Infinity"]'),
        ("nothing", False, "null"),
    ],
)
def test_a_bug_in_a_tool_is_its_failure(kind: str, is_error: bool, output: str) -> None:
    outcome = Tools(buggy).call("buggy", f'{{"kind": "{kind}"}}')
    assert outcome.is_error is is_error
    assert output in outcome.output
    outcome.output.encode()


def test_an_interrupt_is_the_users_and_passes() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tools(interrupted).call("interrupted", "{}")


async def asynchronous() -> None: ...


def untyped(x) -> None: ...  # type: ignore[no-untyped-def]


def variadic(*args: int) -> None: ...


def by_place(x: int, /) -> None: ...


def strange(x: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - the fault


@pytest.mark.parametrize("function", [asynchronous, untyped, variadic, by_place, strange])
def test_what_cannot_be_described_is_refused_at_once(function: Any) -> None:
    with pytest.raises(TypeError, match=f"tool {function.__name__}: "):
        Tools(function)


def test_names_are_those_that_the_api_accepts_and_unique() -> None:
    with pytest.raises(TypeError, match="name"):
        Tools(lambda: None)
    with pytest.raises(ValueError, match="two tools are named 'book'"):
        Tools(book, book)


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a": NaN}', '{"a": -1e999}', "{}{}", r'{"a": "\ud800"}', "[" * 300]
)
def test_what_is_no_strict_json_stays_text(text: str) -> None:
    assert parsed_arguments(text) == text


def test_json_arguments_are_parsed() -> None:
    assert parsed_arguments("[" * 100 + "]" * 100) != "[" * 100 + "]" * 100
    assert parsed_arguments(' {"a": [1, 2.5, "\\ud83d\\ude00", null, true]} ') == {
        "a": [1, 2.5, "😀", None, True]
    }
