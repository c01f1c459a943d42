"""What a suite or the command line arms, as the fault plan takes it."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from harness.faults.plan import Arming
from harness.scenario import Scenario
from harness.suite.plan import FaultSpec

__all__ = ["arming_of", "may_strike"]


def arming_of(spec: FaultSpec) -> Arming:
    """The arming of one spec."""
    return Arming(
        name=spec.name,
        point=spec.point or None,
        nth=spec.nth,
        session=spec.session,
        task=spec.task,
        persistent=spec.persistent,
        probability=spec.probability,
        seed=spec.seed or 0,
    )


def may_strike(scenario: Scenario) -> bool:
    """Whether a fault may strike in a script: it says so, or it calls `arm`, itself or through what it calls by name.

    Read from its code, before anything is run. A script that hides it from that still arms what it likes; then nobody
    watches another process in its cell, and the receipt has no figure for that.
    """
    known = getattr(scenario.body, "__globals__", {})
    return bool(scenario.arms) or "fault-contained" in scenario.exercises or _arms(scenario.body, known, set())


def _arms(what: Any, known: dict[str, Any], seen: set[Any]) -> bool:
    code = what if isinstance(what, CodeType) else getattr(what, "__code__", None)
    if code is None or code in seen:
        return False
    seen.add(code)
    called = [known[name] for name in code.co_names if isinstance(known.get(name), FunctionType)]
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return "arm" in code.co_names or any(_arms(each, known, seen) for each in (*inner, *called))
