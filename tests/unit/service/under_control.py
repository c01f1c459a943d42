"""Runs programs over modules of `harness.service` under the engine: controlled threads, points at shared state."""

import importlib.util
import pathlib
import sys
import types

from harness.engine.instrument.loader import Instrumenter
from harness.engine.strategies.portfolio import make_strategy
from harness.engine.threads import current

HERE = pathlib.Path(__file__).parent
_SPEC = importlib.util.spec_from_file_location("engine_bench", HERE.parent / "engine" / "conftest.py")
_ENGINE = importlib.util.module_from_spec(_SPEC)
sys.modules["engine_bench"] = _ENGINE
_SPEC.loader.exec_module(_ENGINE)


def instrumented(name, change=lambda source: source):
    """A module of harness/service with its accesses to shared state reported; `change` makes a wrong variant of it."""
    path = HERE.parents[2] / "harness" / "service" / f"{name}.py"
    plain = path.read_text()
    source = change(plain)
    module = types.ModuleType(f"controlled_{name}_{len(sys.modules)}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    instrumenter = Instrumenter(())
    code = instrumenter.compile_file(source.encode(), str(path))
    instrumenter.prepare(module)
    exec(code, module.__dict__)
    return module


def swap(*pairs):
    """A change that must apply: each old text stands exactly once in the source."""

    def change(source):
        for old, new in pairs:
            assert source.count(old) == 1, f"the variant does not apply: {old!r}"
            source = source.replace(old, new)
        return source

    return change


class Search:
    """Explores a program `program() -> result`, with points at statements, on reused threads."""

    def __init__(self):
        self.bench = _ENGINE.Bench()

    def results(self, program, executions=300, strategy="portfolio", seed=1):
        """What each execution returned; None where it did not get to its end. Every thread must have ended then."""
        found = []
        chosen = make_strategy(strategy, seed)
        for number in range(executions):
            ran = self.bench.once(_at_statements(program), chosen, number)
            assert not ran.kernel.stalled
            assert not ran.kernel.out_of_budget
            found.append(ran.result if not ran.left else ("stuck", tuple(ran.left)))
        return found


def _at_statements(program):
    def controlled(_):
        current().kernel.at_statements = True
        return program()

    return controlled
