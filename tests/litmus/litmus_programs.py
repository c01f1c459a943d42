"""Loads the programs: plain for real threads, instrumented for control."""

import ast
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Program:
    """One litmus program. `statements`: it shares plain state, so it is run at both granularities."""

    theme: str
    name: str
    run: Any
    statements: bool
    can_hang: bool

    @property
    def id(self):
        return f"{self.theme}/{self.name}"


def load(*, instrumented):
    """Every program that this Python can run, in the order of the files."""
    return [program for path in sorted(FOLDER.glob("*.py")) for program in _programs(path, instrumented=instrumented)]


def _programs(path, *, instrumented):
    tree = ast.parse(path.read_bytes(), str(path))
    module = types.ModuleType(f"litmus_{path.stem}")
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    if instrumented:
        from harness.engine.instrument.runtime import names as reports
        from harness.engine.instrument.transform import mutable_names, transform

        module.__dict__.update(reports())
        tree = transform(tree, mutable_names(tree))
    exec(compile(tree, str(path), "exec"), module.__dict__)
    needs = getattr(module, "NEEDS", {})
    can_hang = getattr(module, "CAN_HANG", set())
    assert can_hang | set(needs) <= set(names), "what is declared is there"
    return [
        Program(path.stem, name, getattr(module, name), getattr(module, "STATEMENTS", False), name in can_hang)
        for name in names
        if sys.version_info >= needs.get(name, (3, 0))
    ]
