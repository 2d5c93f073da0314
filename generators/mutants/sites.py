"""The sites: every place of a module where an operator applies, each one mutant.

Left out, because no stream can show them: documentation, type annotations (but those of classes
read from JSON, which decide what is accepted), imports, what an error's message says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Final

from doneness.generators.mutants.operators import OPERATORS, Operator

TURN: Final = "__turn__"
"""What each turn of a `while` calls in a mutant, so that an endless one can be stopped."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes:
        module: The module's full name.
        line: Where it begins in the source.
        place: Which function or table it is in.
        before, after: The code there, on one line.
    """

    module: str
    operator: str
    line: int
    place: str
    before: str
    after: str
    _tree: ast.Module = field(repr=False, compare=False)
    _site: _Site = field(repr=False, compare=False)
    _other: ast.AST | None = field(repr=False, compare=False)

    @property
    def key(self) -> str:
        """What names the change, also after lines have moved."""
        module = self.module.removeprefix("doneness.")
        return f"{module}:{self.place}: {self.operator}: {self.before} -> {self.after}"

    def code(self) -> CodeType:
        """The whole module, with the change, compiled."""
        old = getattr(self._site.holder, self._site.field)
        new: Any = ast.Pass() if self._other is None else self._other
        if self._site.index is not None:
            new = [*old[: self._site.index], new, *old[self._site.index + 1 :]]
        setattr(self._site.holder, self._site.field, new)
        try:
            return _compiled(self._tree, self.module)
        finally:
            setattr(self._site.holder, self._site.field, old)


def unchanged(module: str, source: str) -> CodeType:
    """A module as it is, but that its loops call `TURN`."""
    return _compiled(ast.parse(source), module)


def _compiled(tree: ast.Module, module: str) -> CodeType:
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.While)]
    turn = ast.Expr(ast.Call(ast.Name(TURN, ast.Load()), [], []))
    for loop in loops:
        loop.body.insert(0, turn)
    try:
        return compile(ast.fix_missing_locations(tree), module, "exec")
    finally:
        for loop in loops:
            loop.body.remove(turn)


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a node hangs in its tree: the holder's field, and the index where that is a list."""

    holder: ast.AST
    field: str
    index: int | None
    node: ast.AST
    place: str


def mutants(
    module: str, source: str, operators: tuple[Operator, ...] = OPERATORS
) -> Iterator[Mutant]:
    """Every mutant of a module's source, in the order of the source."""
    tree = ast.parse(source)
    keys: set[str] = set()
    for site in _sites(tree, module.rpartition(".")[2]):
        for operator in operators:
            if operator.name == "type" and not _is_read_from_json(site.holder):
                continue
            for other in operator.change(site.node):
                mutant = Mutant(
                    module,
                    operator.name,
                    getattr(site.node, "lineno", 0) or getattr(site.holder, "lineno", 0),
                    site.place,
                    _code(site.node),
                    "(nothing)" if other is None else _code(other),
                    tree,
                    site,
                    other,
                )
                if mutant.before != mutant.after and mutant.key not in keys:
                    keys.add(mutant.key)
                    yield mutant


def _sites(tree: ast.AST, where: str) -> Iterator[_Site]:
    """Each node that may be changed."""
    for name, value in ast.iter_fields(tree):
        if _left_out(tree, name):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _says_nothing(child):
                continue
            inside = where
            if isinstance(child, ast.FunctionDef):
                inside = f"{where}.{child.name}" if isinstance(tree, ast.ClassDef) else child.name
            elif isinstance(child, ast.ClassDef):
                inside = child.name
            yield _Site(tree, name, index if isinstance(value, list) else None, child, inside)
            yield from _sites(child, inside)


def _left_out(holder: ast.AST, name: str) -> bool:
    """Whether a field only tells people or type checkers something."""
    return name in ("annotation", "returns", "decorator_list") or isinstance(holder, ast.Raise)


def _says_nothing(node: ast.AST) -> bool:
    """Whether a node is documentation, an import, or a claim about a type."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("cast", "TypeVar")
    ):
        return True
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass | ast.expr_context)


def _is_read_from_json(holder: ast.AST) -> bool:
    """Whether a class is one whose declared types msgspec checks."""
    bases = holder.bases if isinstance(holder, ast.ClassDef) else []
    return any(ast.unparse(base) in ("msgspec.Struct", "_Payload") for base in bases)


def _code(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension | ast.match_case):
        return " ".join(ast.unparse(child) for child in ast.iter_child_nodes(node))
    return " ".join(ast.unparse(node).split())
