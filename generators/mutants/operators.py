"""The operators: which single changes of a syntax tree count as a fault.

Each operator looks at one node and yields what could stand there instead. The tables say what is
exchanged for what; the functions only apply them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

from doneness.spec.vocabulary import CallState, Issue, Kind, Outcome, Status

Change: TypeAlias = Callable[[ast.AST], Iterator[ast.AST | None]]
"""What could stand in the place of a node; None: nothing at all (a statement that is dropped)."""

_N = TypeVar("_N", bound=ast.AST)

COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

ARITHMETIC: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
}

NAMES: Final[Mapping[str, str]] = {
    "all": "any",
    "any": "all",
    "decode": "encode",
    "dict": "list",
    "endswith": "startswith",
    "get": "pop",
    "isdecimal": "isalnum",
    "issuperset": "issubset",
    "lower": "upper",
    "max": "min",
    "min": "max",
    "removeprefix": "removesuffix",
    "setdefault": "get",
    "sorted": "list",
    "startswith": "endswith",
}
"""Functions and methods, each with the one it could be confused with."""

ENUMERATIONS: Final[Mapping[str, type[StrEnum]]] = {
    one.__name__: one for one in (CallState, Issue, Kind, Outcome, Status)
}


@dataclass(frozen=True, slots=True)
class Operator:
    """A sort of change.

    Attributes:
        says: The change, in words.
    """

    name: str
    says: str
    change: Change


def _like(node: _N, **fields: object) -> _N:
    other = deepcopy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _not(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=deepcopy(test))


def _comparison(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in COMPARISONS.get(type(op), ()):
                yield _like(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])


def _boolean(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BoolOp):
        yield _like(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for place in range(len(node.values)):
            rest = node.values[:place] + node.values[place + 1 :]
            yield _like(node, values=rest) if len(rest) > 1 else deepcopy(rest[0])


def _negation(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield _like(node, test=_not(node.test))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield deepcopy(node.operand)
    elif isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            yield _like(node, ifs=[*node.ifs[:place], _not(test), *node.ifs[place + 1 :]])


def _arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _like(node, op=ARITHMETIC[type(node.op)]())


def _constant(node: ast.AST) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    others: tuple[str | bytes | int | float, ...] = ()
    if isinstance(value, bool):
        others = (not value,)
    elif isinstance(value, int | float):
        others = (value + 1, value - 1)
    elif isinstance(value, str):
        others = (f"{value}~", "") if value else ("~",)
    elif isinstance(value, bytes):
        others = (value + b"~", b"") if value else (b"~",)
    for other in others:
        yield ast.Constant(other)


def _statement(node: ast.AST) -> Iterator[ast.AST | None]:
    simple = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.If, ast.Try, ast.Raise, ast.For)
    if isinstance(node, (*simple, ast.While, ast.Break, ast.Continue)):
        yield None
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield None


def _return(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return) and node.value is not None:
        if not (isinstance(node.value, ast.Constant) and node.value.value in (None, False)):
            yield _like(node, value=ast.Constant(None))
        if not isinstance(node.value, ast.Constant | ast.Tuple):
            yield _like(node, value=_not(node.value))


def _loop(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Break):
        yield ast.Continue()
    elif isinstance(node, ast.Continue):
        yield ast.Break()
    elif isinstance(node, ast.For | ast.While) and node.orelse:
        yield _like(node, orelse=[])


def _arguments(node: ast.AST) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Call):
        return
    symmetric = isinstance(node.func, ast.Name) and node.func.id in ("max", "min")
    for place in range(0 if symmetric else len(node.args) - 1):
        first, second = node.args[place : place + 2]
        if ast.dump(first) != ast.dump(second):
            rest = node.args[place + 2 :]
            yield _like(node, args=[*node.args[:place], second, first, *rest])
    for place in range(len(node.keywords)):
        yield _like(node, keywords=node.keywords[:place] + node.keywords[place + 1 :])
    if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
        yield deepcopy(node.args[0])


def _name(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield _like(node, id=NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield _like(node, attr=NAMES[node.attr])


def _member(node: ast.AST) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return
    members = ENUMERATIONS.get(node.value.id)
    if members is not None and node.attr in members.__members__:
        for other in members.__members__:
            if other != node.attr:
                yield _like(node, attr=other)


def _entry(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Dict):
        places = range(len(node.keys))
        for place in places:
            yield _like(
                node,
                keys=node.keys[:place] + node.keys[place + 1 :],
                values=node.values[:place] + node.values[place + 1 :],
            )
        for place in places[:-1]:
            first, second = node.values[place : place + 2]
            if ast.dump(first) != ast.dump(second):
                rest = node.values[place + 2 :]
                yield _like(node, values=[*node.values[:place], second, first, *rest])
    elif isinstance(node, ast.Set | ast.Tuple | ast.List) and len(node.elts) > 1:
        if not isinstance(getattr(node, "ctx", None), ast.Store):
            for place in range(len(node.elts)):
                yield _like(node, elts=node.elts[:place] + node.elts[place + 1 :])
    elif isinstance(node, ast.JoinedStr) and len(node.values) > 1:
        for place in range(len(node.values)):
            yield _like(node, values=node.values[:place] + node.values[place + 1 :])


def _case(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Match):
        for place in range(len(node.cases)):
            if len(node.cases) > 1:
                yield _like(node, cases=node.cases[:place] + node.cases[place + 1 :])
    elif isinstance(node, ast.MatchOr):
        for place in range(len(node.patterns)):
            rest = node.patterns[:place] + node.patterns[place + 1 :]
            yield _like(node, patterns=rest) if len(rest) > 1 else deepcopy(rest[0])
    elif isinstance(node, ast.match_case) and node.guard is not None:
        yield _like(node, guard=_not(node.guard))


def _slice(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Slice):
        if node.lower is not None:
            yield _like(node, lower=None)
        if node.upper is not None:
            yield _like(node, upper=None)


def _type(node: ast.AST) -> Iterator[ast.AST]:
    """A member's declared type, of a class that is read from JSON."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        kind = node.annotation
        if isinstance(kind, ast.BinOp):
            yield _like(node, annotation=kind.left)
            yield _like(node, annotation=kind.right)
        else:
            yield _like(node, annotation=ast.Name("object", ast.Load()))
            yield _like(node, annotation=_or_none(kind))
            if not (isinstance(kind, ast.Name) and kind.id == "str"):
                yield _like(node, annotation=ast.Name("str", ast.Load()))


def _or_none(kind: ast.expr) -> ast.expr:
    return ast.BinOp(kind, ast.BitOr(), ast.Constant(None))


OPERATORS: Final = (
    Operator("comparison", "another comparison: == for !=, <= for <, is not for is", _comparison),
    Operator("boolean", "and for or; one operand left out", _boolean),
    Operator("negation", "a condition turned round", _negation),
    Operator("arithmetic", "+ for -, + for *, * for **", _arithmetic),
    Operator("constant", "a number one off, a flag flipped, text longer or empty", _constant),
    Operator("statement", "a statement left out", _statement),
    Operator("return", "None, or the contrary, returned instead", _return),
    Operator("loop", "break for continue; the else of a loop left out", _loop),
    Operator("argument", "two arguments swapped, one left out, or the call left out", _arguments),
    Operator("name", "a function for its neighbour: min for max, any for all", _name),
    Operator("member", "another member of the same enumeration", _member),
    Operator("entry", "an entry of a table left out, or two values swapped", _entry),
    Operator("case", "a case or an alternative of a match left out, its guard turned", _case),
    Operator("slice", "an end of a slice left open", _slice),
    Operator("type", "the type of a member widened or narrowed", _type),
)
"""All of them; each change is one mutant."""
