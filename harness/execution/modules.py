"""Whose code takes part in an execution: the modules of the user's that a service or a scenario works with."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from harness.engine.instrument.contents import MARK
from harness.engine.instrument.loader import refit
from harness.scenario import Scenario

__all__ = ["see_into", "users_modules"]

_OURS = Path(__file__).resolve().parents[2]
_SCENARIOS = _OURS / "scenarios"


def users_modules(module: ModuleType) -> dict[str, Path]:
    """The modules, neither installed nor ours, that a module's names come from, and theirs in turn: their files."""
    return _modules_behind(module, _is_users)


def see_into(scenario: Scenario) -> None:
    """Have what the actors of a script share reported, wherever the script's own code stands.

    A scenario's body may be another module's scenario or function, with fewer tasks, say.
    """
    first = sys.modules[scenario.body.__module__]
    for name in (first.__name__, *_modules_behind(first, lambda file: _is_users(file) or _is_a_scenarios(file))):
        module = sys.modules[name]
        if MARK not in vars(module):
            scenarios = [each for each in vars(module).values() if isinstance(each, Scenario)]
            refit(module, [each.body for each in scenarios if each.body.__module__ == name])


def _modules_behind(module: ModuleType, followed: Callable[[Path], bool]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    seen: set[str] = set()
    pending = [module]
    while pending:
        names = {name for name in map(_where_from, vars(pending.pop()).values()) if isinstance(name, str)}
        for name in sorted(names - seen):
            other = sys.modules.get(name)
            file = getattr(other, "__file__", None)
            if other is not None and isinstance(file, str) and followed(Path(file)):
                found[name] = Path(file)
                pending.append(other)
        seen |= names
    return found


def _where_from(value: object) -> object:
    if isinstance(value, ModuleType):
        return value.__name__
    return getattr(value.body if isinstance(value, Scenario) else value, "__module__", None)


@cache
def _is_users(file: Path) -> bool:
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    own = any(file.resolve().is_relative_to(_OURS / part) for part in ("adapters", "harness", "reports", "scenarios"))
    return file.suffix == ".py" and not own and not any(file.resolve().is_relative_to(each) for each in installed)


def _is_a_scenarios(file: Path) -> bool:
    return file.suffix == ".py" and file.resolve().is_relative_to(_SCENARIOS)
