"""Rewrites a module's syntax tree so that accesses to shared state are reported, as pytest rewrites asserts.

Shared state is: attributes that are stored after their object may have been seen (`attributes.py`), variables that
several functions share (`scopes.py`), and what containers and iterators hold (`contents.py`). Attributes that are never
stored again (locks, queues, sessions) need no report: nobody can race on them.

Every node keeps its position, so line numbers and tracebacks stay right. What the plain code evaluates is evaluated
once, in the same order and in the same frame; no name is added to any scope.
"""

from __future__ import annotations

import ast

from harness.engine.instrument.attributes import mutable_names
from harness.engine.instrument.stores import Stores

__all__ = ["mutable_names", "transform"]


def transform(tree: ast.Module, mutable: frozenset[str]) -> ast.Module:
    """Rewrite in place. `mutable` is the union of `mutable_names` over all modules that are instrumented together."""
    return ast.fix_missing_locations(Stores(tree, mutable).visit(tree))
