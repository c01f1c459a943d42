"""The built-in scenarios, and how a user's is loaded."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import scenarios
from harness.loading import load_file
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


def _load_file(path: str) -> ModuleType:
    try:
        return load_file(path)
    except FileNotFoundError as error:
        message = f"no scenario file {path!r}"
        raise UnknownScenarioError(message) from error
    except Exception as error:
        message = f"scenario file {path!r} does not import: {type(error).__name__}: {error}"
        raise UnknownScenarioError(message) from error
