"""Rewrites a module's syntax tree so that accesses to shared state are reported, as pytest rewrites asserts.

Shared state is: attributes that some method other than `__init__` stores, module variables that some function
declares global, variables that an inner function declares nonlocal, and what containers hold. Inside `__init__` an
object is nobody else's yet, so its own attributes are left alone there. Attributes that are never stored again
(locks, queues, sessions) need no report: nobody can race on them.

Every node keeps its position, so line numbers and tracebacks stay right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

__all__ = ["mutable_names", "transform"]

_CONTAINER_METHODS = frozenset({
    "add", "append", "appendleft", "clear", "copy", "count", "discard", "extend", "extendleft", "get", "index",
    "insert", "items", "keys", "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault",
    "sort", "update", "values",
})  # fmt: skip
_LOOKS_INSIDE = frozenset({
    "all", "any", "bool", "dict", "enumerate", "iter", "len", "list", "max", "min", "next", "reversed", "set", "sorted",
    "sum", "tuple",
})  # fmt: skip
_NEW = "_racegate_new"


def mutable_names(tree: ast.Module) -> frozenset[str]:
    """The attribute names that the module stores anywhere but on `self` in an `__init__`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.attr)
    return frozenset(found - _only_in_init(tree))


def _only_in_init(tree: ast.Module) -> set[str]:
    inside: list[str] = []
    everywhere: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            everywhere.append(node.attr)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            inside += [name for statement in node.body for name in _stores_on_self(statement, node)]
    return {name for name in inside if inside.count(name) == everywhere.count(name)}


def _stores_on_self(statement: ast.stmt, function: ast.FunctionDef) -> Iterable[str]:
    first = function.args.args[0].arg if function.args.args else ""
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store() | ast.Del()) if name == first:
                yield attribute
            case _:
                pass


def transform(tree: ast.Module, mutable: frozenset[str]) -> ast.Module:
    """Rewrite in place. `mutable` is the union of `mutable_names` over all modules that are instrumented together."""
    _Rewriter(mutable, _shared_variables(tree)).visit(tree)
    return ast.fix_missing_locations(tree)


class _Rewriter(ast.NodeTransformer):
    """Rewrites loads where they stand, and puts the report of a store just before it, after its value is computed."""

    def __init__(self, mutable: frozenset[str], variables: frozenset[str]) -> None:
        self._mutable = mutable
        self._variables = variables
        self._own: str | None = None
        self._class: str | None = None
        self._bases = 0

    # -- scopes -------------------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Names with two leading underscores are mangled with the class's."""
        outer, self._class = self._class, node.name
        self.generic_visit(node)
        self._class = outer
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """In `__init__` the first argument is nobody else's yet; in a function inside it, it may be."""
        outer = self._own
        first = node.args.args[0].arg if node.args.args else None
        self._own = first if node.name == "__init__" and self._class is not None else None
        self.generic_visit(node)
        self._own = outer
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A lambda made in `__init__` runs later."""
        outer, self._own = self._own, None
        self.generic_visit(node)
        self._own = outer
        return node

    # -- loads --------------------------------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A load of an attribute that is stored again somewhere."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not self._watched(node):
            return node
        return _call("_racegate_get", node, node.value, ast.Constant(self._mangled(node.attr)))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A load of a variable that several functions share."""
        if not isinstance(node.ctx, ast.Load) or node.id not in self._variables:
            return node
        return _call("_racegate_variable", node, ast.Constant(node.id), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """A load of an item."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or isinstance(node.slice, ast.Slice):
            return node
        return _call("_racegate_item", node, node.value, node.slice)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of a method that containers have, or of a function that looks inside one."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _CONTAINER_METHODS:
            thing = self.visit(function.value)
            self._visit_arguments(node)
            changed = _call("_racegate_call", node, thing, ast.Constant(function.attr), *node.args)
            changed.keywords = node.keywords
            return changed
        self.generic_visit(node)
        if isinstance(function, ast.Name) and function.id in _LOOKS_INSIDE:
            node.args = [_read(argument) for argument in node.args]
        return node

    def _visit_arguments(self, node: ast.Call) -> None:
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`in` looks inside its right side."""
        self.generic_visit(node)
        node.comparators = [
            _read(right) if isinstance(operator, ast.In | ast.NotIn) else right
            for operator, right in zip(node.ops, node.comparators, strict=True)
        ]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """`not` asks whether a container is empty."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            node.operand = _read(node.operand)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`and` and `or` ask whether a container is empty."""
        self.generic_visit(node)
        node.values = [_read(value) for value in node.values]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A test asks whether a container is empty."""
        self.generic_visit(node)
        node.test = _read(node.test)
        return node

    # -- statements ---------------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> ast.AST:
        """A test asks whether a container is empty."""
        self.generic_visit(node)
        node.test = _read(node.test)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """A test asks whether a container is empty, each time."""
        self.generic_visit(node)
        node.test = _read(node.test)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """Iteration looks inside."""
        self.generic_visit(node)
        node.iter = _read(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Iteration looks inside."""
        self.generic_visit(node)
        node.iter = _read(node.iter)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        """As an assignment, where it has a value."""
        self.generic_visit(node)
        return node if node.value is None else self._reported(node, [node.target], node.value)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """The value is computed, then the store is reported, then it happens."""
        self.generic_visit(node)
        return self._reported(node, node.targets, node.value)

    def _reported(
        self, node: ast.Assign | ast.AnnAssign, targets: list[ast.expr], value: ast.expr
    ) -> ast.AST | list[ast.stmt]:
        reports = self._reports(targets)
        if not reports:
            return node
        node.value = ast.copy_location(ast.Name(_NEW, ast.Load()), value)
        return [_assign(_NEW, value, node), *reports, node]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """A read, then a write: another thread may come between the two."""
        self.generic_visit(node)
        reports = self._reports([node.target])
        if not reports:
            return node
        *moved, report = reports
        return [
            *moved,
            _assign(_NEW, self._load_of(node.target), node),
            ast.copy_location(ast.AugAssign(ast.Name(_NEW, ast.Store()), node.op, node.value), node),
            report,
            ast.copy_location(ast.Assign([node.target], ast.Name(_NEW, ast.Load())), node),
        ]

    def _load_of(self, target: ast.expr) -> ast.expr:
        """What the target holds now, reported as a read. `_reports` has left nothing in it that has an effect."""
        if isinstance(target, ast.Attribute):
            name = ast.Constant(self._mangled(target.attr))
            return _call("_racegate_get", target, _copy(target.value), name)
        if isinstance(target, ast.Subscript):
            return _call("_racegate_item", target, _copy(target.value), _copy(target.slice))
        assert isinstance(target, ast.Name), "an augmented assignment has one of three targets"
        return _call("_racegate_variable", target, ast.Constant(target.id), ast.Name(target.id, ast.Load()))

    def visit_Delete(self, node: ast.Delete) -> ast.AST | list[ast.stmt]:
        """A deletion is a write."""
        self.generic_visit(node)
        return [*self._reports(node.targets), node]

    def _reports(self, targets: list[ast.expr]) -> list[ast.stmt]:
        """The statements that report the stores to these targets, to stand just before them."""
        found: list[ast.stmt] = []
        for target in targets:
            for node in ast.walk(target):
                found += self._report(node)
        return found

    def _report(self, node: ast.AST) -> list[ast.stmt]:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id in self._variables:
            return [_statement(_call("_racegate_write_variable", node, ast.Constant(node.id)))]
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and self._watched(node):
            name = ast.Constant(self._mangled(node.attr))
            before = self._once(node)
            return [*before, _statement(_call("_racegate_write", node, _copy(node.value), name))]
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            before = self._once(node)
            return [*before, _statement(_call("_racegate_change", node, _copy(node.value)))]
        return []

    def _once(self, node: ast.Attribute | ast.Subscript) -> list[ast.stmt]:
        """Move what has an effect, or may have, out of a target: it is evaluated once, before the report."""
        moved: list[ast.stmt] = []
        if not isinstance(node.value, ast.Name):
            node.value = self._move(node.value, moved)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Name | ast.Constant | ast.Slice):
            node.slice = self._move(node.slice, moved)
        return moved

    def _move(self, value: ast.expr, moved: list[ast.stmt]) -> ast.expr:
        self._bases += 1
        name = f"_racegate_base_{self._bases}"
        moved.append(_assign(name, value, value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def _watched(self, node: ast.Attribute) -> bool:
        if node.attr not in self._mutable:
            return False
        return not (self._own is not None and isinstance(node.value, ast.Name) and node.value.id == self._own)

    def _mangled(self, name: str) -> str:
        if self._class is None or not name.startswith("__") or name.endswith("__"):
            return name
        return f"_{self._class.lstrip('_')}{name}"


def _shared_variables(tree: ast.Module) -> frozenset[str]:
    return frozenset(
        name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    )


def _read(node: ast.expr) -> ast.expr:
    """Report a look inside a value, where it can be a container."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Call):
        return _call("_racegate_read", node, node)
    return node


def _call(name: str, at: ast.AST, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), at)


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), at)


def _statement(call: ast.Call) -> ast.stmt:
    return ast.copy_location(ast.Expr(call), call)


def _copy(node: ast.expr) -> ast.expr:
    """The same expression once more; `_once` has seen to it that it is a name or a constant."""
    return ast.copy_location(ast.parse(ast.unparse(node), mode="eval").body, node)
