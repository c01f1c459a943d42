"""Which variables threads can share: globals that functions store, and closures' variables that change after capture.

A captured variable is shared unless each of its stores ends, with every loop around it, before the first function
that captures it begins: nobody can then see it change. List, set and dict comprehensions and class bodies run at once,
on the thread of the code around them; functions, lambdas and generator expressions may run elsewhere.
"""

# ruff: noqa: N815 - the methods' names are those of ast.NodeVisitor

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from harness.engine.instrument.nodes import mangled

__all__ = ["Function", "Scope", "Scopes"]

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Loop = ast.For | ast.AsyncFor | ast.While
_Place = tuple[int, int]


class Scope:
    """One scope: what it binds, and where; what it uses. `later`: its code may run later, and on another thread."""

    def __init__(self, node: ast.AST, parent: Scope | None, private: str | None) -> None:
        self.parent = parent
        self.private = private
        self.is_class = isinstance(node, ast.ClassDef)
        self.is_comprehension = isinstance(node, _Comprehension)
        self.later = isinstance(node, Function | ast.GeneratorExp)
        self.begins = _begin(node)
        self.bound: dict[str, list[_Place]] = defaultdict(list)
        self.used: set[str] = set()
        self.stored_from_inside: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.captured: dict[str, _Place] = {}
        self.defined: set[str] = set()

    def owner(self, name: str) -> Scope:
        """The scope whose variable a name in this one is; the module's for globals and builtins."""
        scope, inner = self, False
        while scope.parent is not None:
            if name in scope.globals:
                return scope.module
            if name in scope.bound and name not in scope.nonlocals and not (inner and scope.is_class):
                return scope
            scope, inner = scope.parent, True
        return scope

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        return self if self.parent is None else self.parent.module

    def shares(self, name: str) -> bool:
        """Whether a variable that this scope owns may change after another function has captured it."""
        captured = self.captured.get(name)
        if captured is None:
            return False
        return name in self.stored_from_inside or any(ends > captured for ends in self.bound[name])


class Scopes:
    """The scopes of a module, by node. `mutable` are the attribute names that are stored somewhere."""

    def __init__(self, tree: ast.Module, mutable: frozenset[str]) -> None:
        builder = _Builder(tree)
        self._module = builder.module
        self._of = builder.scopes
        self._globals = builder.stored_globals | (set(self._module.bound) & mutable)
        for scope in self._of.values():
            for name in scope.used | scope.nonlocals:
                _capture(scope, name)

    def of(self, node: ast.AST) -> Scope:
        """The scope that a node opens."""
        return self._of[node]

    def key(self, scope: Scope, name: str) -> str | None:
        """How the accesses to a variable are reported: a global by its name; None for one that is not shared."""
        name = mangled(scope.private, name)
        owner = scope.owner(name)
        if owner is self._module:
            return name if name in self._globals else None
        return f"{name}@{owner.begins[0]}.{owner.begins[1]}" if owner.shares(name) else None

    def plain(self, scope: Scope, name: str) -> bool:
        """Whether a name always is one function, or class without bases, of this module."""
        name = mangled(scope.private, name)
        owner = scope.owner(name)
        return name in owner.defined and len(owner.bound[name]) == 1 and self.key(scope, name) is None

    def builtin(self, scope: Scope, name: str) -> bool:
        """Whether a name is a builtin's, or nobody's."""
        owner = scope.owner(name)
        return owner is self._module and name not in owner.bound and name not in self._globals


def _capture(scope: Scope, name: str) -> None:
    owner, begins = scope.owner(name), None
    inner: Scope | None = scope
    while inner is not None and inner is not owner:
        begins = inner.begins if inner.later else begins
        inner = inner.parent
    if begins is None or owner.parent is None:
        return
    owner.captured[name] = min(begins, owner.captured.get(name, begins))
    if name in scope.nonlocals:
        owner.stored_from_inside.add(name)


class _Builder(ast.NodeVisitor):
    """Walks a module once. `_ends` is where the outermost loop around ends, or the statement, if that is later."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = self._scope = Scope(tree, None, None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self.stored_globals: set[str] = set()
        self._loop: _Place | None = None
        self._ends: _Place | None = None
        for each in tree.body:
            self.visit(each)

    def visit(self, node: ast.AST) -> None:
        """Visit, knowing where a simple statement ends."""
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete | ast.Import | ast.ImportFrom):
            self._ends = _end(node)
            super().visit(node)
            self._ends = None
        else:
            super().visit(node)

    def _inside(self, node: ast.AST, parts: Iterator[ast.AST], private: str | None) -> None:
        outer = self._scope, self._loop, self._ends
        self._scope = self.scopes[node] = Scope(node, self._scope, private)
        self._loop = self._ends = None
        if isinstance(node, _Comprehension):
            self._loop = _end(node)
        for part in parts:
            self.visit(part)
        self._scope, self._loop, self._ends = outer

    def _bind(self, name: str, ends: _Place, scope: Scope | None = None) -> None:
        scope = scope or self._scope
        name = mangled(scope.private, name)
        scope.used.add(name)
        if name in scope.globals:
            self.stored_globals.add(name)
        elif name not in scope.nonlocals:
            scope.bound[name].append(max(ends, self._loop or ends))

    # -- scopes -------------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function: its decorators and defaults are evaluated outside."""
        self._outside_of(node)
        self._bind(node.name, _end(node) if node.decorator_list else _begin(node))
        self._define(node, plain=not node.decorator_list)
        self._inside(node, self._function(node), self._scope.private)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A function without a name."""
        self._outside_of(node)
        self._inside(node, self._function(node), self._scope.private)

    def _outside_of(self, node: Function) -> None:
        decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
        for part in (*decorators, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    def _function(self, node: Function) -> Iterator[ast.AST]:
        arguments = node.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if each is not None:
                self._bind(each.arg, self._scope.begins)
        yield from [node.body] if isinstance(node, ast.Lambda) else node.body

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class: its body runs at once, and its names are its attributes."""
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._bind(node.name, _end(node))
        self._define(node, plain=not (node.decorator_list or node.bases or node.keywords))
        self._inside(node, iter(node.body), node.name)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, *, plain: bool) -> None:
        if plain:
            self._scope.defined.add(mangled(self._scope.private, node.name))

    def _comprehension(self, node: _Comprehension) -> None:
        self.visit(node.generators[0].iter)
        self._inside(node, self._parts(node), self._scope.private)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    @staticmethod
    def _parts(node: _Comprehension) -> Iterator[ast.AST]:
        for number, each in enumerate(node.generators):
            yield each.target
            yield from each.ifs if number == 0 else (each.iter, *each.ifs)
        yield from (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)

    # -- names --------------------------------------------------------------------------------------------------------

    def visit_Global(self, node: ast.Global) -> None:
        """Names of the module's variables."""
        self._scope.globals.update(mangled(self._scope.private, name) for name in node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Names of an outer function's variables."""
        self._scope.nonlocals.update(mangled(self._scope.private, name) for name in node.names)

    def visit_Name(self, node: ast.Name) -> None:
        """A use of a variable, or a store."""
        if isinstance(node.ctx, ast.Load):
            self._scope.used.add(mangled(self._scope.private, node.id))
        else:
            self._bind(node.id, self._ends or _end(node))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """A store in the function around the comprehensions around."""
        self.visit(node.value)
        scope, ends = self._scope, _end(node)
        while scope.is_comprehension and scope.parent is not None:
            ends = max(ends, self._loop or ends)
            scope = scope.parent
        self._bind(node.target.id, max(ends, self._ends or ends), scope)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """A store, and a deletion at the end."""
        if node.name is not None:
            self._bind(node.name, _end(node))
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """A store of each name."""
        for alias in node.names:
            self._bind((alias.asname or alias.name).partition(".")[0], _end(node))

    visit_ImportFrom = visit_Import

    def _pattern(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name is not None:
            self._bind(name, _end(node))
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _pattern

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """A use and a store."""
        if isinstance(node.target, ast.Name):
            self._scope.used.add(mangled(self._scope.private, node.target.id))
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """A store, where there is a value. Annotations are nobody's accesses."""
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def _loop_statement(self, node: _Loop) -> None:
        outer, self._loop = self._loop, self._loop or _end(node)
        self.generic_visit(node)
        self._loop = outer

    visit_For = visit_AsyncFor = visit_While = _loop_statement


def _begin(node: ast.AST) -> _Place:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> _Place:
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0
