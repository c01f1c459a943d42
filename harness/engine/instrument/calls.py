"""Calls: of functions that report nothing themselves, with what they are given."""

# ruff: noqa: N802 - the methods' names are those of ast.NodeVisitor

from __future__ import annotations

import ast
import builtins

from harness.engine.instrument.nodes import again, call
from harness.engine.instrument.walker import Walker

__all__ = ["Calls"]

_HARMLESS = frozenset({
    "__build_class__", "__import__", "bin", "breakpoint", "callable", "chr", "classmethod", "dir", "eval", "exec",
    "float", "globals", "hex", "id", "input", "int", "isinstance", "issubclass", "locals", "object", "oct", "open",
    "ord", "property", "range", "staticmethod", "super", "type", "vars",
    *(name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)),
})  # fmt: skip
"""Builtins that look into no container, or that look at their caller."""


class Calls(Walker):
    """Rewrites calls.

    `f(a, b)` becomes `_racegate_use(f, a, b)(a, b)`, which calls f from the same frame as before, so long as a and b
    can be evaluated twice; else `_racegate_ready(f, a(), b())()`, where a `functools.partial` is called.
    """

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call: function, arguments and keywords are evaluated once, in this order, and then reported."""
        skipped = self._is_harmless(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        simple = all(self._is_trivial(value) for value in values) and all(each.arg for each in node.keywords)
        node.func = self.visit(node.func)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if skipped:
            return node
        if simple:
            keywords = [ast.keyword(each.arg, again(each.value)) for each in node.keywords]
            node.func = call("use", node.func, node.func, *map(again, node.args), keywords=keywords)
            return node
        ready = call("ready", node, node.func, *node.args, keywords=node.keywords)
        return ast.copy_location(ast.Call(ready, [], []), node)

    def _is_harmless(self, function: ast.expr) -> bool:
        """Whether the function touches nothing, or is instrumented and so reports for itself."""
        match function:
            case ast.Name(id=name):
                return self._is_builtin(function, _HARMLESS) or self._scopes.plain(self._scope, name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name in self._methods and name not in self._mutable
            case _:
                return False

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """A named argument, or a mapping of them."""
        fresh = isinstance(node.value, ast.Dict)
        node.value = self.visit(node.value)
        if node.arg is None and not fresh:
            node.value = call("read", node.value, node.value)
        return node
