"""Puts this folder on the path, so that the tests here can import `run_records`, `gate_cases` and `golden_files`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
