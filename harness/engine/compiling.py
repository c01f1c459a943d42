"""The engine's core, compiled or not: what the compiler must be told, and which of the two this is.

`hatch_build.py` says what is compiled and how. The sources are the same, and so is every decision. Compiled, a function
has no frame, and a class takes no other attributes and no interpreted subclass unless it says so.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

__all__ = ["StaleCoreError", "core", "mypyc_attr"]

_ROOT = Path(__file__).resolve().parents[2]
MANIFEST = Path("harness/engine/compiled.json")
"""In an installation with a compiled core: the digest of each source that was compiled."""
SOME = Path("harness/engine/scheduler.py")
"""One of them."""

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr
else:

    def mypyc_attr(**_options: bool) -> object:
        """Leave a class as it is: it is interpreted."""
        return lambda of: of


class StaleCoreError(RuntimeError):
    """What would run is not what the sources say."""


def core(root: Path = _ROOT) -> str:
    """`compiled` or `interpreted`, of this installation.

    Raises StaleCoreError where a part would run that was compiled from another source than the one beside it.
    """
    manifest = root / MANIFEST
    compiled: dict[str, str] = json.loads(manifest.read_bytes()) if manifest.exists() else {}
    for source in compiled or (SOME.as_posix(),):
        module = source.removesuffix(".py").replace("/", ".")
        spec = importlib.util.find_spec(module)
        is_interpreted = spec is not None and spec.origin == str(root / source)
        digest = "" if is_interpreted else hashlib.sha256((root / source).read_bytes()).hexdigest()
        if compiled.get(source, "") != digest:
            message = f"the engine's core was not compiled from the {source} that is here: install racegate again"
            raise StaleCoreError(message)
    return "compiled" if compiled else "interpreted"
