"""The pieces of syntax that the rewriting puts together. Every new node stands where the one that it serves stood."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

__all__ = ["again", "as_value", "call", "is_fresh", "is_plain", "mangled", "statement", "strings"]

_FRESH = (
    ast.Compare, ast.Constant, ast.Dict, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.Lambda, ast.List,
    ast.ListComp, ast.Set, ast.SetComp,
)  # fmt: skip


def call(name: str, at: ast.AST, *arguments: ast.expr, keywords: Iterable[ast.keyword] = ()) -> ast.Call:
    """A call of one of the functions of `runtime.Reports`."""
    return ast.copy_location(ast.Call(ast.Name(f"_racegate_{name}", ast.Load()), list(arguments), list(keywords)), at)


def statement(value: ast.expr) -> ast.stmt:
    """An expression for its effect."""
    return ast.copy_location(ast.Expr(value), value)


def strings(values: Iterable[str]) -> list[ast.expr]:
    """Names, as constants."""
    return [ast.Constant(value) for value in values]


def again(node: ast.expr) -> ast.expr:
    """The same expression once more: only for what has no effect and always the same value, as a local variable."""
    return copy.deepcopy(node)


def as_value(index: ast.expr) -> ast.expr:
    """What stands between brackets, as a value of its own: slices become calls of `slice`."""
    if isinstance(index, ast.Slice):
        ends = [ast.Constant(None) if end is None else end for end in (index.lower, index.upper, index.step)]
        return call("slice", index, *ends)
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([as_value(each) for each in index.elts], ast.Load()), index)
    return index


def is_fresh(node: ast.expr) -> bool:
    """Whether an expression makes its value, so that nobody else has it, or has a value without contents."""
    if isinstance(node, ast.Tuple):
        return all(map(is_fresh, node.elts))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) or is_fresh(node.operand)
    return isinstance(node, _FRESH)


def is_plain(node: ast.expr) -> bool:
    """Whether the value of an expression neither has contents that can change, nor holds anything that has."""
    return isinstance(node, ast.Constant | ast.JoinedStr | ast.Compare | ast.Lambda) or (
        isinstance(node, ast.UnaryOp) and (isinstance(node.op, ast.Not) or is_plain(node.operand))
    )


def mangled(private: str | None, name: str) -> str:
    """A name as the compiler writes it inside a class: `__x` is `_Class__x` there."""
    if private is None or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{private.lstrip('_')}{name}" if private.strip("_") else name
