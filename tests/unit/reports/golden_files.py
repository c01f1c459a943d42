"""Golden files: `RACEGATE_REFRESH_GOLDEN=1 pytest tests/unit/reports` writes them anew; review the diff."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "golden" / "reports"


def matches_golden(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("RACEGATE_REFRESH_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text, f"{name} changed: see golden_files.py for how to refresh it"
