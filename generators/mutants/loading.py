"""Loading: a machine with one module changed, beside the real one.

A mutant and the modules that import it are executed anew, under names of their own; everything
else is shared. Nothing of the real machine is touched, so thousands of mutants can be tried in
one process.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Final

PREFIX: Final = "doneness.machine."
ALIAS: Final = "doneness_mutant_"

MODULES: Final = (
    "content",
    "json_text",
    "payloads",
    "memory",
    "reducer",
    "acceptance",
    "producer",
    "framing.errors",
    "framing.events",
    "framing.decoder",
)
"""The modules that are changed, each after those that it imports."""


def short(module: str) -> str:
    """The last part of a module's name: what it is called in a machine that is loaded."""
    return module.rpartition(".")[2]


@cache
def source_of(module: str) -> str:
    """The source of a module of the machine."""
    spec = find_spec(PREFIX + module)
    loader: Any = spec.loader if spec else None
    source = loader.get_source(PREFIX + module) if loader else None
    if source is None:
        raise FileNotFoundError(f"{PREFIX}{module}: its source is not installed")
    return str(source)


@cache
def _compiled(module: str) -> CodeType:
    return compile(source_of(module), PREFIX + module, "exec")


@contextmanager
def loaded(changed: Mapping[str, CodeType], **more: object) -> Iterator[SimpleNamespace]:
    """The modules of the machine by name, with some of them changed; they also see `more`."""
    fresh: dict[str, ModuleType] = {}

    def imports(name: str, *args: Any, **kwargs: Any) -> ModuleType:
        return fresh.get(name) or builtins.__import__(name, *args, **kwargs)

    own: dict[str, Any] = {**vars(builtins), "__import__": imports, **more}
    try:
        for module in MODULES:
            if module in changed or _imports_any(module, fresh):
                made = ModuleType(
                    ALIAS + module.replace(".", "_")
                )  # no package, so it can be found again
                made.__dict__["__builtins__"] = own
                sys.modules[made.__name__] = fresh[PREFIX + module] = made
                exec(changed.get(module) or _compiled(module), made.__dict__)  # noqa: S102
        yield SimpleNamespace(
            **{
                short(name): fresh.get(PREFIX + name) or import_module(PREFIX + name)
                for name in MODULES
            }
        )
    finally:
        for made in fresh.values():
            sys.modules.pop(made.__name__, None)


def _imports_any(module: str, fresh: Mapping[str, ModuleType]) -> bool:
    return any(f"from {name} import" in source_of(module) for name in fresh)
