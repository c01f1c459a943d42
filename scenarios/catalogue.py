"""The built-in scenarios, and how a user's is loaded."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import scenarios
from harness.scenario import Scenario

__all__ = ["SCENARIOS", "UnknownScenarioError", "load"]


class UnknownScenarioError(ValueError):
    """No scenario of that name, or its file does not load. The text says what there is."""


def _built_in() -> dict[str, Scenario]:
    found: dict[str, Scenario] = {}
    for module in pkgutil.walk_packages(scenarios.__path__, "scenarios."):
        if not module.ispkg and module.name.count(".") > 1:
            found |= _of(importlib.import_module(module.name))
    return dict(sorted(found.items()))


def _of(module: ModuleType) -> dict[str, Scenario]:
    return {value.id: value for value in vars(module).values() if isinstance(value, Scenario)}


SCENARIOS: Mapping[str, Scenario] = _built_in()
"""Each built-in scenario by its id."""


def load(reference: str) -> Scenario:
    """Load a built-in scenario by id, or `path/file.py:name`. Raises UnknownScenarioError."""
    if reference in SCENARIOS:
        return SCENARIOS[reference]
    path, colon, name = reference.rpartition(":")
    if not colon or not path.endswith(".py"):
        message = f"no scenario {reference!r}: `racegate list scenarios` names them, or give path/file.py:name"
        raise UnknownScenarioError(message)
    found = {scenario.id.replace("-", "_"): scenario for scenario in _of(_load_file(path)).values()}
    if name.replace("-", "_") not in found:
        message = f"{Path(path).name} has no scenario {name!r}: it has {', '.join(sorted(found)) or 'none'}"
        raise UnknownScenarioError(message)
    return found[name.replace("-", "_")]


@cache
def _load_file(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        message = f"no scenario file {path!r}"
        raise UnknownScenarioError(message)
    name = f"racegate_user_{file.stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None, "a .py file has a loader"
    assert spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        message = f"scenario file {path!r} does not import: {type(error).__name__}: {error}"
        raise UnknownScenarioError(message) from error
    return module
