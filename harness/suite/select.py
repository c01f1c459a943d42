"""Which scenarios globs and references choose."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable
from pathlib import Path

from harness.suite.file import SuiteError

__all__ = ["is_file_reference", "portable_reference", "select_scenarios"]


def is_file_reference(reference: str) -> bool:
    """Whether this is `path/file.py:name`."""
    path, colon, name = reference.rpartition(":")
    return bool(colon and name) and path.endswith(".py")


def portable_reference(reference: str, folder: Path) -> str:
    """Write the path in `path/file.py:name` relative to `folder`: an absolute path must not reach a record."""
    if not is_file_reference(reference):
        return reference
    path, _, name = reference.rpartition(":")
    return f"{Path(os.path.relpath(path, folder)).as_posix()}:{name}"


def select_scenarios(wanted: Iterable[str], known: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Expand globs over the built-in ids, in order; `!glob` takes away again, and `path/file.py:name` stays.

    Raises SuiteError for a pattern that matches nothing, and when nothing is left.
    """
    ids = sorted(known)
    chosen: dict[str, None] = {}
    for pattern in wanted:
        by_file = is_file_reference(pattern)
        matches = [portable_reference(pattern, folder)] if by_file else fnmatch.filter(ids, pattern.removeprefix("!"))
        if not matches:
            message = f"no scenario matches {pattern!r}; `racegate list scenarios` names them"
            raise SuiteError(message)
        if pattern.startswith("!"):
            chosen = {name: None for name in chosen if name not in matches}
        else:
            chosen.update(dict.fromkeys(matches))
    if not chosen:
        message = "no scenario is left after what `!` takes away"
        raise SuiteError(message)
    return tuple(chosen)
