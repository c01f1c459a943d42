"""Statements: stores and deletions, loops, tests and patterns.

An attribute's store is reported when its object is evaluated, just before the store: `f(x).a = 1` becomes
`_racegate_write(f(x), "a").a = 1`. A variable's is reported with the value that is about to be stored; where other
stores come between, once more just after them, before the next decision point.
"""

# ruff: noqa: N802, N815 - the methods' names are those of ast.NodeVisitor

from __future__ import annotations

import ast
from typing import Any

from harness.engine.instrument.loads import Loads
from harness.engine.instrument.nodes import again, as_value, call, is_fresh, is_plain, statement, strings

__all__ = ["Stores"]


class Stores(Loads):
    """Rewrites statements."""

    # -- targets ------------------------------------------------------------------------------------------------------

    def _target(self, target: ast.expr, value: ast.expr | None = None) -> tuple[ast.expr, list[ast.expr]]:
        """Rewrite a target; return with it the shared variables that are stored and not reported yet."""
        pending: list[ast.expr] = []
        return self._rewritten(target, pending, value), pending

    def _rewritten(self, target: ast.expr, pending: list[ast.expr], value: ast.expr | None = None) -> ast.expr:
        match target:
            case ast.Name(id=name):
                pending += self._keys(name)
            case ast.Tuple() | ast.List():
                target.elts = [self._rewritten(each, pending) for each in target.elts]
            case ast.Starred():
                target.value = self._rewritten(target.value, pending)
            case ast.Attribute():
                self._rewrite_attribute(target, pending)
            case ast.Subscript():
                return self._rewritten_item(target, pending, value)
            case _:
                pass
        return target

    def _rewrite_attribute(self, target: ast.Attribute, pending: list[ast.expr]) -> None:
        watched = self._watched(target)
        target.value = self._flushed(self.visit(target.value), pending)
        if watched:
            target.value = call(self._on("write"), target, target.value, self._name_of(target))

    def _rewritten_item(self, target: ast.Subscript, pending: list[ast.expr], value: ast.expr | None) -> ast.expr:
        """An item: it is reported with the value, which an array reads. None stands for one that is not at hand."""
        known = value is not None and (is_plain(value) or bool(self._known(value)))
        simple = known and self._is_trivial(target.slice)
        extra = [] if value is None or is_plain(value) else [*self._known(value), again(as_value(target.slice))]
        target.value = self._flushed(self.visit(target.value), pending)
        target.slice = self.visit(target.slice)
        if simple:
            target.value = call("change", target.value, target.value, *extra)
            return target
        slot = call("slot", target, target.value, as_value(target.slice))
        return ast.copy_location(ast.Attribute(slot, "value", target.ctx), target)

    def _flushed(self, base: ast.expr, pending: list[ast.expr]) -> ast.expr:
        """Report the variables that were stored before a target is evaluated, then evaluate that."""
        if not pending:
            return base
        report = call("stored", base, *pending)
        pending.clear()
        return ast.copy_location(ast.BoolOp(ast.Or(), [report, base]), base)

    def _names_in(self, targets: list[ast.expr]) -> list[ast.expr]:
        return self._all_keys([node.id for target in targets for node in ast.walk(target)
                               if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)])  # fmt: skip

    # -- assignments --------------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        """The value is computed, then each store is reported and happens."""
        keys, value = self._names_in(node.targets), node.value
        unpacks = any(isinstance(target, ast.Tuple | ast.List) for target in node.targets)
        at_hand = value if len(node.targets) == 1 and not unpacks else None
        node.value = self.visit(value)
        if keys:
            node.value = call("store", node.value, node.value, *keys)
        if unpacks and not is_fresh(value):
            node.value = call("look", node.value, node.value)
        pending: list[ast.expr] = []
        node.targets = [self._rewritten(target, pending, at_hand) for target in node.targets]
        simple = all(isinstance(target, ast.Name) for target in node.targets)
        return [node] if simple else [node, *self._reported(node, pending)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """As an assignment, where it has a value."""
        if node.value is None:
            return node
        keys, value = self._names_in([node.target]), node.value
        visited: ast.expr = self.visit(value)
        node.value = call("store", value, visited, *keys) if keys else visited
        target = self._rewritten(node.target, [], value)
        assert isinstance(target, ast.Name | ast.Attribute | ast.Subscript), "a target stays what it can be"
        node.target = target
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """A read, then a write: another thread may come between the two. What is read may be changed in place."""
        value, target = self.visit(node.value), node.target
        if isinstance(target, ast.Name):
            return self._augmented_name(node, target, value)
        if self._is_simple(target) and not any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.value)):
            return self._augmented_simple(node, target, value)
        if isinstance(target, ast.Attribute):
            place = call(self._on("place"), target, self.visit(target.value), self._name_of(target))
        else:
            place = call("slot", target, self.visit(target.value), as_value(self.visit(target.slice)))
        node.target = ast.copy_location(ast.Attribute(place, "value", ast.Store()), target)
        node.value = value
        return node

    def _is_simple(self, target: ast.Attribute | ast.Subscript) -> bool:
        """Whether a target can be evaluated several times: an attribute or an item of a plain variable."""
        plain = isinstance(target.value, ast.Name) and self._is_trivial(target.value)
        return (
            plain
            and (isinstance(target, ast.Attribute) or isinstance(target.slice, ast.Name | ast.Constant))
            and (isinstance(target, ast.Attribute) or self._is_trivial(target.slice))
        )

    def _augmented_simple(self, node: ast.AugAssign, target: ast.Attribute | ast.Subscript, value: ast.expr) -> ast.AST:
        """`self.n += v` as `self.n = self.n + v`, in place where it can be: no object is made for it."""
        loaded: Any = again(target)
        loaded.ctx = ast.Load()
        operation = ast.Constant(f"i{type(node.op).__name__}")
        changed = call("binary", node, self._loaded_again(target, loaded), operation, value)
        return ast.copy_location(ast.Assign([self._rewritten(target, [], ast.Constant(None))], changed), node)

    def _loaded_again(self, target: ast.expr, loaded: ast.expr) -> ast.expr:
        if isinstance(target, ast.Attribute) and isinstance(loaded, ast.Attribute) and self._watched(target):
            loaded.value = call(self._read_of(target.attr), loaded, loaded.value, self._name_of(target))
        return loaded if isinstance(loaded, ast.Attribute) else self.visit(loaded)

    def _augmented_name(self, node: ast.AugAssign, target: ast.Name, value: ast.expr) -> ast.AST:
        keys = self._keys(target.id)
        loaded = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        if not keys:
            node.value = call("into", value, loaded, value)
            return node
        operation = ast.Constant(f"i{type(node.op).__name__}")
        changed = call("binary", node, self.visit(loaded), operation, value)
        return ast.copy_location(ast.Assign([target], call("store", node, changed, *keys)), node)

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        """A deletion is a write."""
        keys, pending = self._names_in(node.targets), list[ast.expr]()
        before = self._announced(node, keys)
        node.targets = [self._rewritten(target, pending, ast.Constant(None)) for target in node.targets]
        return [*before, node, *self._reported(node, pending)]

    def _announced(self, node: ast.AST, keys: list[ast.expr]) -> list[ast.stmt]:
        """Report the variables that the next statement stores: a decision point."""
        return [statement(call("store", node, ast.Constant(None), *keys))] if keys else []

    def _reported(self, node: ast.AST, keys: list[ast.expr]) -> list[ast.stmt]:
        """Report the variables that were just stored."""
        return [statement(call("stored", node, *keys))] if keys else []

    def _bound(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef), "a definition"
        keys = self._keys(node.name)
        return [*self._announced(node, keys), node, *self._reported(node, keys)]

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        """Names are stored; those that are imported from a module are read there."""
        keys = self._all_keys([(alias.asname or alias.name).partition(".")[0] for alias in node.names])
        return [*self._announced(node, keys), node, *self._reported(node, keys)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """As `visit_Import`; what the module's other users may store is read."""
        read = [ast.Constant(alias.name) for alias in node.names if alias.name in self._mutable]
        found = self.visit_Import(node)
        if read and node.module != "__future__":
            source = ast.Constant("." * node.level + (node.module or ""))
            found.append(statement(call("imported", node, source, *read)))
        return found

    # -- blocks -------------------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If | ast.While) -> ast.AST:
        """A test asks whether a container is empty."""
        node.test = self._tested(node.test)
        node.body, node.orelse = self._visit_body(node.body), self._visit_body(node.orelse)
        return node

    visit_While = visit_If

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """A test asks whether a container is empty."""
        node.test = self._tested(node.test)
        node.msg = node.msg and self.visit(node.msg)
        return node

    def visit_For(self, node: ast.For | ast.AsyncFor) -> ast.AST:
        """Each step looks inside, and stores."""
        node.iter = self._walked(node.iter, node.target) if isinstance(node, ast.For) else self.visit(node.iter)
        node.target, stored = self._target(node.target)
        node.body = [*self._reported(node.target, stored), *self._visit_body(node.body)]
        node.orelse = self._visit_body(node.orelse)
        return node

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> ast.AST:
        """What is entered is stored before the next one is evaluated."""
        pending: list[ast.expr] = []
        for item in node.items:
            item.context_expr = self._flushed(self.visit(item.context_expr), pending)
            if item.optional_vars is not None:
                item.optional_vars = self._rewritten(item.optional_vars, pending)
        node.body = [*self._reported(node, pending), *self._visit_body(node.body)]
        return node

    visit_AsyncWith = visit_With

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """The exception is stored, and its name deleted at the end."""
        node.type = node.type and self.visit(node.type)
        keys = self._keys(node.name) if node.name is not None else []
        node.body = self._visit_body(node.body)
        if keys:
            guarded = ast.Try(node.body, [], [], self._reported(node, keys))
            node.body = [*self._reported(node, keys), ast.copy_location(guarded, node)]
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Patterns look inside a value, and at its attributes; after a guard they look again."""
        patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
        attributes = [name for each in patterns if isinstance(each, ast.MatchClass) for name in each.kwd_attrs]
        names = strings(name for name in sorted(set(attributes)) if self._changes(name) or self._is_final(name))
        again_looked = [call("matched", node, *self._known(node.subject), *names)] if self._known(node.subject) else []
        node.subject = call("match", node.subject, self.visit(node.subject), *names)
        for case in node.cases:
            self._visit_case(case, again_looked)
        return node

    def _visit_case(self, case: ast.match_case, again_looked: list[ast.Call]) -> None:
        parts = list(ast.walk(case.pattern))
        captured = [each.name for each in parts if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name]
        captured += [each.rest for each in parts if isinstance(each, ast.MatchMapping) and each.rest]
        stored = self._all_keys(captured)
        guard: list[ast.expr] = []
        if case.guard is not None:
            guard = [self._tested(case.guard), *map(again, again_looked)]
        if stored:
            guard = [call("stored", case.pattern, *stored), *(guard or [ast.Constant(value=True)])]
        if guard:
            case.guard = ast.copy_location(ast.BoolOp(ast.Or(), guard), case.pattern) if len(guard) > 1 else guard[0]
        case.body = self._visit_body(case.body)

    def visit_TypeAlias(self, node: ast.AST) -> ast.AST:
        """Types are nobody's accesses."""
        return node
