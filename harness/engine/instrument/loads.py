"""Expressions: reads of attributes, of variables, and of what containers hold.

A report comes after everything that the access needs, and just before the access: no decision point lies between.
"""

# ruff: noqa: N802, N815 - the methods' names are those of ast.NodeVisitor

from __future__ import annotations

import ast

from harness.engine.instrument.calls import Calls
from harness.engine.instrument.nodes import again, as_value, call, is_fresh, is_plain

__all__ = ["Loads"]

_MAKERS = frozenset({"bytearray", "dict", "frozenset", "list", "range", "set", "sorted", "tuple"})
"""Builtins whose result nobody else has: it needs no report when it is looked into."""
_ONE_SIDED = (ast.In, ast.Is, ast.IsNot, ast.NotIn)


class Loads(Calls):
    """Rewrites what is read."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """A load of an attribute that is stored somewhere."""
        watched = isinstance(node.ctx, ast.Load) and self._watched(node)
        node.value = self.visit(node.value)
        if watched and node.attr != "__dict__":
            node.value = call(self._read_of(node.attr), node, node.value, self._name_of(node))
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A load of a shared variable: the report returns None, so that the variable is the value."""
        keys = self._keys(node.id) if isinstance(node.ctx, ast.Load) else []
        if not keys:
            return node
        return ast.copy_location(ast.BoolOp(ast.Or(), [call("variable", node, *keys), node]), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """A load of an item, or of a slice."""
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        trivial = self._is_trivial(node.slice)
        node.value, node.slice = self.visit(node.value), self.visit(node.slice)
        if not trivial:
            return call("item", node, node.value, as_value(node.slice))
        if isinstance(node.slice, ast.Slice | ast.Tuple):
            node.value = call("read", node.value, node.value)
        else:
            node.value = call("at", node.value, node.value, again(node.slice))
        return node

    def _shown(self, node: ast.expr, *, deep: bool = False, others: tuple[ast.expr, ...] = ()) -> ast.expr:
        """Visit an expression, and report a look into its value, and into those of plain variables."""
        skipped = (is_plain(node) if deep else is_fresh(node) or self._is_made(node)) and not others
        node = self.visit(node)
        return node if skipped else call("look" if deep else "read", node, node, *others)

    def _is_made(self, node: ast.expr) -> bool:
        """Whether a builtin makes the value: nobody else has it."""
        return isinstance(node, ast.Call) and self._is_builtin(node.func, _MAKERS)

    def _known(self, node: ast.expr) -> tuple[ast.expr, ...]:
        """An operand that can be reported together with another one, evaluated once more."""
        return (again(node),) if isinstance(node, ast.Name | ast.Tuple) and self._is_trivial(node) else ()

    # -- operators ----------------------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A comparison looks into both sides, `in` into its right one, `is` into none."""
        if len(node.ops) == 1 and not isinstance(node.ops[0], _ONE_SIDED):
            return self._two(node, node.left, type(node.ops[0]).__name__, node.comparators[0])
        before = node.left
        node.left = (
            self.visit(node.left) if self._is_trivial(node.left) or len(node.ops) == 1 else self._shown(node.left)
        )
        for number, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            looked = not isinstance(operator, ast.Is | ast.IsNot)
            node.comparators[number] = (
                self._shown(right, deep=True, others=self._known(before)) if looked else self.visit(right)
            )
            before = right
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """An operator looks into both sides: lists are joined, arrays added, containers written into texts."""
        return self._two(node, node.left, type(node.op).__name__, node.right)

    def _two(self, node: ast.Compare | ast.BinOp, left: ast.expr, operation: str, right: ast.expr) -> ast.AST:
        """An operator of two operands: the report comes when both are known."""
        if self._is_trivial(right):
            left = self._shown(left, deep=True, others=self._known(right))
        elif self._is_trivial(left) or is_plain(left):
            others = self._known(left)
            left, right = self.visit(left), self._shown(right, deep=True, others=others)
        else:
            return call("binary", node, self.visit(left), ast.Constant(operation), self.visit(right))
        if isinstance(node, ast.Compare):
            node.left, node.comparators = left, [right]
        else:
            node.left, node.right = left, right
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """`not` asks whether a container is empty; the others look into arrays."""
        node.operand = self._tested(node.operand) if isinstance(node.op, ast.Not) else self._shown(node.operand)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`and` and `or` ask whether a container is empty, but of the last value."""
        *tested, last = node.values
        node.values = [*map(self._tested, tested), self.visit(last)]
        return node

    def _tested(self, node: ast.expr) -> ast.expr:
        """An expression that is asked whether it is true."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._tested(value) for value in node.values]
            return node
        return self._shown(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A test asks whether a container is empty."""
        node.test = self._tested(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    # -- looks into containers ----------------------------------------------------------------------------------------

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        """`*xs` among values walks over it."""
        if isinstance(node.ctx, ast.Load):
            node.value = self._shown(node.value)
            return node
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """`**d` among items walks over it. Keys and values are evaluated in turns."""
        pairs = list(zip(node.keys, node.values, strict=True))
        node.keys = [key and self.visit(key) for key, _ in pairs]
        node.values = [self.visit(value) if key is not None else self._shown(value) for key, value in pairs]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """A text made of a container looks into it, and into what it holds."""
        node.value = self._shown(node.value, deep=True)
        if node.format_spec is not None:
            node.format_spec = self.visit(node.format_spec)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """A store amid an expression."""
        keys = self._keys(node.target.id)
        node.value = self.visit(node.value)
        if keys:
            node.value = call("store", node.value, node.value, *keys)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        """Each step of what is delegated to."""
        node.value = call("delegate", node.value, self.visit(node.value))
        return node

    # -- comprehensions -----------------------------------------------------------------------------------------------

    def _walked(self, iterated: ast.expr, target: ast.expr) -> ast.expr:
        """Visit what a loop walks over, and report its steps."""
        fresh = self._is_made(iterated) or (is_fresh(iterated) and not isinstance(iterated, ast.GeneratorExp))
        unpacks = isinstance(target, ast.Tuple | ast.List)
        iterated = self.visit(iterated)
        if fresh and not unpacks:
            return iterated
        return call("each_unpacked" if unpacks else "each", iterated, iterated)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        first = node.generators[0]
        first.iter = first.iter if first.is_async else self._walked(first.iter, first.target)
        outer = self._enter(node)
        for number, each in enumerate(node.generators):
            if number and not each.is_async:
                each.iter = self._walked(each.iter, each.target)
            each.target, stored = self._target(each.target)
            each.ifs = [self._tested(test) for test in each.ifs]
            if stored:
                each.ifs.insert(0, ast.UnaryOp(ast.Not(), call("stored", each.target, *stored)))
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self._scope = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _target(self, target: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
        """Report the stores to a target; return the shared variables among them that are to be reported afterwards."""
        raise NotImplementedError
