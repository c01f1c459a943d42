"""What every part of the rewriting knows: the scope and the class around a node, and what is shared there."""

# ruff: noqa: N815 - the methods' names are those of ast.NodeVisitor

from __future__ import annotations

import ast

from harness.engine.instrument.attributes import ANY, is_final, mutable_names, unshared
from harness.engine.instrument.nodes import mangled, strings
from harness.engine.instrument.scopes import Function, Scope, Scopes

__all__ = ["Walker"]


class Walker(ast.NodeTransformer):
    """Walks a module and keeps account of scopes. Annotations and type parameters are left as they are."""

    def __init__(self, tree: ast.Module, mutable: frozenset[str]) -> None:
        self._scopes = Scopes(tree, mutable)
        self._scope = self._scopes.of(tree)
        self._mutable = mutable
        self._dynamic = ANY in mutable
        self._dynamic_here = ANY in mutable_names(tree)
        self._unshared = unshared(tree)
        self._methods: frozenset[str] = frozenset()

    # -- what is shared -----------------------------------------------------------------------------------------------

    def _watched(self, node: ast.Attribute) -> bool:
        """Whether others may store this attribute."""
        return (self._dynamic or self._changes(node.attr) or self._is_final(node.attr)) and node not in self._unshared

    def _changes(self, name: str) -> bool:
        return name in self._mutable

    def _is_final(self, name: str) -> bool:
        """Whether an attribute is stored once, by its `__init__`: there is nothing to report of it afterwards."""
        return is_final(name, self._mutable)

    def _read_of(self, name: str) -> str:
        """The name of the function that reports a read of an attribute."""
        return "get_final" if self._is_final(name) and not self._dynamic else self._on("get")

    def _on(self, name: str) -> str:
        """The name of a function for attributes: of the one that knows of `__dict__`, where that is used."""
        return f"{name}_any" if self._dynamic else name

    def _name_of(self, node: ast.Attribute) -> ast.expr:
        return ast.Constant(mangled(self._scope.private, node.attr))

    def _keys(self, name: str) -> list[ast.expr]:
        """The names under which a variable is reported; none for one that is not shared."""
        key = self._scopes.key(self._scope, name)
        if key is None:
            return []
        return strings([key, ""] if self._dynamic_here and "@" not in key else [key])

    def _all_keys(self, names: list[str]) -> list[ast.expr]:
        return [key for name in names for key in self._keys(name)]

    def _is_builtin(self, node: ast.expr, name: str | frozenset[str]) -> bool:
        """Whether an expression names a builtin function, one of these."""
        wanted = {name} if isinstance(name, str) else name
        return isinstance(node, ast.Name) and node.id in wanted and self._scopes.builtin(self._scope, node.id)

    def _is_trivial(self, node: ast.expr | None) -> bool:
        """Whether evaluating it twice, or a little earlier, makes no difference: a constant, or a plain variable."""
        if isinstance(node, ast.Name):
            return not self._keys(node.id)
        if isinstance(node, ast.Slice):
            return all(map(self._is_trivial, (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Tuple):
            return all(map(self._is_trivial, node.elts))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.operand, ast.Constant)
        return node is None or isinstance(node, ast.Constant)

    # -- scopes -------------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST | list[ast.stmt]:
        """A function: its decorators and defaults belong outside."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        self._visit_defaults(node)
        outer = self._enter(node)
        node.body = self._visit_body(node.body)
        self._scope = outer
        return self._bound(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A function without a name."""
        self._visit_defaults(node)
        outer = self._enter(node)
        node.body = self.visit(node.body)
        self._scope = outer
        return node

    def _visit_defaults(self, node: Function) -> None:
        arguments = node.args
        arguments.defaults = [self.visit(each) for each in arguments.defaults]
        arguments.kw_defaults = [each and self.visit(each) for each in arguments.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | list[ast.stmt]:
        """A class: its own methods are known to be Python's, where they are called on the first argument."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        outer, methods = self._enter(node), self._methods
        self._methods = frozenset(
            each.name for each in node.body if isinstance(each, ast.FunctionDef) and not each.decorator_list
        )
        node.body = self._visit_body(node.body)
        self._scope, self._methods = outer, methods
        return self._bound(node)

    def _bound(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        """A statement that binds its own name."""
        raise NotImplementedError

    def _enter(self, node: ast.AST) -> Scope:
        outer, self._scope = self._scope, self._scopes.of(node)
        return outer

    def _visit_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in body:
            new = self.visit(each)
            found += new if isinstance(new, list) else [new]
        return found
