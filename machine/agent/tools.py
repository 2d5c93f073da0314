"""Tools: typed Python functions that a model may call (contract §6).

A function's signature is the one place where its parameters are described: pydantic makes the
JSON Schema for the model from it, and validates what the model sends against it. A tool that
fails is no failure of the run: whatever goes wrong becomes an outcome with `is_error`, whose
text tells the model what to mend.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, to_json

from doneness.machine.agent.answer import whole_text
from doneness.machine.agent.calls import NAME, Outcome, parsed_arguments

OUTPUT_CHARS_MAX: Final = 100_000
"""Bound on what one call hands to the model, in characters; the rest is cut off, visibly."""


class Tool:
    """One function that a model may call.

    Args:
        function: An ordinary function or bound method; each parameter carries a type and can be
            given by name. Its docstring is the description that the model reads.

    Raises:
        TypeError: the function cannot be described or called so; the message says why.
    """

    __slots__ = ("_adapter", "name", "schema")

    def __init__(self, function: Callable[..., object]) -> None:
        self.name = _name_of(function)
        described: Any = _described(self.name, function)  # pydantic calls it a form of type
        self._adapter: TypeAdapter[object] = TypeAdapter(described)
        self.schema: dict[str, object] = {
            "type": "function",
            "function": {
                "name": self.name,
                "description": inspect.getdoc(function) or "",
                "parameters": self._adapter.json_schema(),
            },
        }

    def call(self, arguments: dict[str, object]) -> Outcome:
        """Validate `arguments`, call the function, and put its result into words."""
        try:
            result = self._adapter.validate_python(ArgsKwargs((), arguments))
            output = result if isinstance(result, str) else _as_json(result)
        except ValidationError as error:
            return Outcome(_complaints(self.name, error), is_error=True)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any bug in a tool is its failure
            return Outcome(_clipped(_words(error)), is_error=True)
        return Outcome(_clipped(whole_text(output)), is_error=False)


class Tools:
    """The tools of one agent, by name.

    Args:
        functions: See `Tool`.
    """

    __slots__ = ("_by_name",)

    def __init__(self, *functions: Callable[..., object]) -> None:
        self._by_name: dict[str, Tool] = {}
        for function in functions:
            tool = Tool(function)
            if tool.name in self._by_name:
                raise ValueError(f"two tools are named {tool.name!r}; each needs a name of its own")
            self._by_name[tool.name] = tool

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def schemas(self) -> list[dict[str, object]]:
        """What the model is told: the `tools` of a chat-completions request."""
        return [tool.schema for tool in self._by_name.values()]

    def call(self, name: str, arguments: str) -> Outcome:
        """Call `name` with `arguments`, the JSON text that the model sent; never raises."""
        tool = self._by_name.get(name)
        if tool is None:
            known = ", ".join(self._by_name) or "none"
            return Outcome(_clipped(f"unknown tool {name!r}; known: {known}"), is_error=True)
        parsed = parsed_arguments(arguments)
        if not isinstance(parsed, dict):
            shown = arguments if len(arguments) <= 200 else arguments[:200] + "…"
            wanted = f"{name}: expected the arguments as one JSON object, got {shown!r}"
            return Outcome(wanted, is_error=True)
        return tool.call(parsed)


def _name_of(function: Callable[..., object]) -> str:
    name = getattr(function, "__name__", "")
    if not NAME.fullmatch(name):
        raise TypeError(f"a tool needs a name of letters, digits, _ and -, at most 64: {name!r}")
    return name


def _described(name: str, function: Callable[..., object]) -> Callable[..., object]:
    """`function` behind a signature whose types are objects, as pydantic needs to find them."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"tool {name}: expected an ordinary function, got an async one")
    try:
        hints: dict[str, Any] = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"tool {name}: a type in its signature cannot be found: {error}") from error
    hints.pop("return", None)  # results are not validated
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind not in named:
            raise TypeError(f"tool {name}: parameter {parameter} cannot be given by name")
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: parameter {parameter} needs a type, for its schema")

    @functools.wraps(function)
    def described(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    described.__annotations__ = hints
    return described


def _as_json(result: object) -> str:
    return to_json(result, inf_nan_mode="strings").decode()


def _complaints(name: str, error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(map(str, each['loc'])) or name}: {each['msg']}" for each in found[:10]]
    return _clipped(whole_text(f"{name}: " + "; ".join(lines)))


def _words(error: BaseException) -> str:
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - even the words of a failing tool may fail
        words = ""
    return whole_text(f"{type(error).__name__}: {words}" if words else type(error).__name__)


def _clipped(text: str) -> str:
    if len(text) <= OUTPUT_CHARS_MAX:
        return text
    return f"{text[:OUTPUT_CHARS_MAX]}… ({len(text) - OUTPUT_CHARS_MAX} more characters cut off)"
