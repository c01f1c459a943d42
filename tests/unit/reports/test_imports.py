from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
BLOCKED = ("numpy", "onnxruntime", "ai_edge_litert", "tflite_runtime", "adapters", "rich")

PROGRAM = f"""
import importlib, pkgutil, sys
for name in {BLOCKED!r}:
    sys.modules[name] = None
import reports
for module in pkgutil.walk_packages(reports.__path__, "reports."):
    importlib.import_module(module.name)
ours = sorted(name for name in sys.modules if name.startswith(("harness.", "scenarios")))
print(" ".join(ours))
"""


def test_reports_import_without_numpy_or_a_runtime_and_nothing_of_ours_but_recorded_data():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"harness.history", "harness.schedule", "harness.verdict"}
