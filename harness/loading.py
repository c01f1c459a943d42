"""Load what users bring: modules by file, without their having to lie under our names."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

__all__ = ["load_file"]


def load_file(path: str, run: Callable[[ModuleType, Path], None] | None = None) -> ModuleType:
    """Import a file once in a process, under a name of its own that no package can have.

    `run` fills the new module instead of the import system. Raises FileNotFoundError, or whatever the file raises.
    """
    file = Path(path).resolve(strict=True)
    name = f"racegate_file_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        if run is None:
            spec.loader.exec_module(module)
        else:
            run(module, file)
    except BaseException:
        del sys.modules[name]
        raise
    return module
