"""Faults inside native code of which the process dies: each by the signal it is named for, in the run it is for."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from native_cases import skip_unless_there

pytestmark = pytest.mark.runtime

SIGNALS = {"native-abort": signal.SIGABRT, "native-bus-error": signal.SIGBUS, "native-segfault": signal.SIGSEGV}
RUNTIMES = ["litert", *(pytest.param(name, marks=pytest.mark.soak) for name in ("tflite", "onnxruntime"))]
PROGRAM = str(Path(__file__).with_name("dying.py"))


@pytest.mark.parametrize("fault", sorted(SIGNALS))
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_process_dies_in_the_second_run(runtime, fault):
    skip_unless_there(runtime)
    done = subprocess.run(
        [sys.executable, PROGRAM, runtime, fault], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.split() == ["SUCCEEDED"], done.stderr
    assert done.returncode == -SIGNALS[fault]
