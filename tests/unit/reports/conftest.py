"""Lets the tests here import `run_records` and `gate_cases`: importlib mode puts no test folder on the path."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
