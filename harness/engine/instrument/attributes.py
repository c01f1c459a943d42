"""Which attributes can change after their object has been seen by others: only on those can threads race.

An `__init__` may store what it likes on its first argument until that may have reached somebody else: until it is
used other than for an attribute that was stored before, or is the class's own. The stores after that count as any.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["ANY", "is_final", "mutable_names", "unshared"]

ANY = "*"
"""Stands among the mutable names where attributes are stored under names that are not known before the program runs."""

_ONCE = ":once"
_EARLY = ":early"
_NAMESPACES = frozenset({"globals", "vars"})
_STORES_BY_NAME = frozenset({"__delattr__", "__setattr__", "delattr", "setattr"})
_DISCREET = frozenset({"ABC", "Generic", "NamedTuple", "Protocol", "Thread", "object"})
"""Classes whose own `__init__` shows the new object to nobody."""


def _once(name: str) -> str:
    """How an attribute stands among the mutable names that an `__init__` stores late, but once: it is final then."""
    return name + _ONCE


def is_final(name: str, mutable: frozenset[str]) -> bool:
    """Whether each object gets this attribute once, from its own `__init__`, and never again."""
    return _once(name) in mutable and name + _EARLY not in mutable and name not in mutable


def mutable_names(tree: ast.Module) -> frozenset[str]:
    """The attribute names that the module stores anywhere but on an object that nobody else has seen yet.

    A name that is stored nowhere but once in an `__init__`, after the object may have been seen, is marked; so is one
    that an `__init__` stores beside another one, which may store it, too. See `is_final`.
    """
    own, late, building = unshared(tree), _late(tree), _building(tree)
    found = {name + _EARLY for owner, function in _constructors(tree, "__init__") if not _is_alone(owner)
             for name in _stored_on_self(function)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and node not in own:
            found.add(_once(node.attr) if node in late else node.attr)
        if node not in building:
            found |= _by_name(node)
    return frozenset(found)


def _late(tree: ast.Module) -> set[ast.AST]:
    """The attributes of a first argument that an `__init__` stores in one place, which is not in a loop."""
    found: set[ast.AST] = set()
    for owner, function in _constructors(tree, "__init__"):
        stored = _stored_on_self(function) if _is_alone(owner) else {}
        once_only = {id(nodes[0]) for nodes in stored.values() if len(nodes) == 1}
        found |= {target for target in _straight_targets(function.body) if id(target) in once_only}
    return found


def _stored_on_self(function: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    stored: dict[str, list[ast.AST]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _is_of(node, function):
            stored.setdefault(node.attr, []).append(node)
    return stored


def _straight_targets(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The targets of plain assignments that run at most once in each call."""
    for statement in body:
        if isinstance(statement, ast.Assign):
            yield from statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield statement.target
        elif isinstance(statement, ast.If | ast.With | ast.Try):
            for part in ("body", "orelse", "finalbody"):
                yield from _straight_targets(getattr(statement, part, []))


def _building(tree: ast.Module) -> set[ast.AST]:
    """The stores by name with which a frozen dataclass's `__post_init__` completes an object that nobody has seen."""
    return {
        node
        for _, function in _constructors(tree, "__post_init__")
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__setattr__"
        and len(node.args) > 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == function.args.args[0].arg
    }


def _constructors(tree: ast.Module, name: str) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef):
            for function in owner.body:
                if isinstance(function, ast.FunctionDef) and function.name == name and function.args.args:
                    yield owner, function


def _is_of(node: ast.Attribute, function: ast.FunctionDef) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == function.args.args[0].arg


def _by_name(node: ast.AST) -> set[str]:
    """The names under which a node may store attributes without a dot."""
    match node:
        case ast.Attribute(attr="__dict__"):
            return {ANY}
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[*_, ast.Constant(value=str(stored))]
        ) if name in {"delattr", "__delattr__"}:
            return {stored}
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[*_, ast.Constant(value=str(stored)), _]
        ) if name in {"setattr", "__setattr__"}:
            return {stored}
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _STORES_BY_NAME | _NAMESPACES:
            return {ANY}
        case ast.FunctionDef(
            name=name, decorator_list=[ast.Name(id="cached_property") | ast.Attribute(attr="cached_property")]
        ):
            return {name}  # its first read stores it
        case _:
            return set()


def unshared(tree: ast.Module) -> frozenset[ast.Attribute]:
    """The attributes, read or stored, of objects that nobody but their running `__init__` has seen."""
    return frozenset(
        attribute
        for owner, function in _constructors(tree, "__init__")
        for attribute in _Constructor(owner, function).attributes()
    )


class _Constructor:
    """One `__init__`, statement by statement, until the object may have been shown to others."""

    def __init__(self, owner: ast.ClassDef, function: ast.FunctionDef) -> None:
        self._body = function.body
        self._self = function.args.args[0].arg
        self._known = {name for statement in owner.body for name in _class_variables(statement)}
        self._discreet = _is_alone(owner)

    def attributes(self) -> Iterator[ast.Attribute]:
        """The attributes that are nobody else's yet."""
        for statement in self._body:
            mine = [node for node in ast.walk(statement) if isinstance(node, ast.Attribute) and self._is_mine(node)]
            if self._shows(statement, mine):
                return
            yield from mine
            self._known |= {node.attr for node in mine if isinstance(node.ctx, ast.Store)}

    def _is_mine(self, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id == self._self

    def _shows(self, statement: ast.stmt, mine: list[ast.Attribute]) -> bool:
        if any(isinstance(node.ctx, ast.Load) and node.attr not in self._known for node in mine):
            return True  # a method, perhaps: it gets the object
        bases: set[ast.AST] = {node.value for node in mine}
        return any(self._shown_by(node, bases) for node in ast.walk(statement))

    def _shown_by(self, node: ast.AST, bases: set[ast.AST]) -> bool:
        match node:
            case ast.Name(id=name) if name == self._self:
                return node not in bases
            case ast.Name(id="super") | ast.Attribute(attr="__init__"):
                return not self._discreet
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef() | ast.GeneratorExp():
                return any(isinstance(each, ast.Name) and each.id == self._self for each in ast.walk(node))
            case _:
                return False


def _class_variables(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_alone(owner: ast.ClassDef) -> bool:
    """Whether no other `__init__` than a discreet one has to do with the objects of a class, but those of its heirs."""
    return all(_last_name(base) in _DISCREET or _is_error(base) for base in owner.bases)


def _last_name(base: ast.expr) -> str:
    base = base.value if isinstance(base, ast.Subscript) else base
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


def _is_error(base: ast.expr) -> bool:
    return _last_name(base).endswith(("Error", "Exception"))
