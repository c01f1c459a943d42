"""Loops of opening, failing and hanging leave nothing behind, and what does leave something is found."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.faults.native import native_availability

ROOT = Path(__file__).parents[3]
MODULES = {"litert": "ai_edge_litert", "tflite": "tflite_runtime", "onnxruntime": "onnxruntime"}
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells what a process has")


def run(*args):
    """A script of ours, in a process of its own: whatever a test process has done before does not count."""
    return subprocess.run(
        [sys.executable, *map(str, args)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=1800
    )


def skip_unless_there(runtime):
    if find_spec(MODULES[runtime]) is None:
        pytest.skip(f"the runtime {MODULES[runtime]} is not installed")
    available, reason = native_availability()
    if not available:
        pytest.skip(f"native faults are not available: {reason}")


@pytest.mark.runtime
def test_sixty_rounds_of_everything_leave_nothing():
    skip_unless_there("litert")
    done = run("benchmarks/leaks.py", "--rounds", 60, "--runtime", "numpy", "--runtime", "litert")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        [f"| {runtime}", loop]
        for runtime in ("numpy", "litert")
        for loop in ("open-close", "failed-open", "failed-run", "held-hang-and-cancel")
    ]
    for row in rows:
        for cell in row[2:4]:  # threads and files; one that ends late makes an interval that reaches below zero
            assert cell == "0" or re.fullmatch(r"(0|-[\d.]+) \(-[\d.]+ to 0\)", cell)
        assert row[4] == ("0" if row[0] == "| litert" else "not counted")


@pytest.mark.runtime
def test_what_an_adapter_leaks_is_found_by_its_resource():
    skip_unless_there("litert")
    done = run(Path(__file__).with_name("leaking_adapters.py"), "litert")
    found = json.loads(done.stdout)
    assert found["nothing"] == {}
    assert found["memory"]["heap"] > 0.95 * 4096  # with CPython 3.13 malloc counts eight times as much
    assert found["thread"]["threads"] == 1.0
    assert found["file"] == {"files": 1.0}
    assert found["instance"]["instances"] == 1.0


@pytest.mark.soak
@pytest.mark.runtime
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("runtime", ["numpy", *MODULES])
def test_five_hundred_rounds_leave_nothing(runtime):
    if runtime in MODULES:
        skip_unless_there(runtime)
    done = run("benchmarks/leaks.py", "--rounds", 500, "--runtime", runtime)
    assert done.returncode == 0, done.stdout + done.stderr
