"""Where what was fetched or built is kept: `$RACEGATE_CACHE`, `$XDG_CACHE_HOME/racegate`, or `~/.cache/racegate`."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """The folder, which need not exist yet."""
    if override := os.environ.get("RACEGATE_CACHE"):
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "racegate"
