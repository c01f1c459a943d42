"""With the cap a runtime is refused memory by the system itself, says so, and works again afterwards."""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np
import pytest

from adapters.base import StagedCall
from adapters.numpy_reference import NumpySession
from harness.faults.memory_cap import MEMORY_CAP, no_more_memory
from harness.models.registry import load_adapter
from harness.scenario import scenario

MIB = 1 << 20


def test_the_system_refuses_and_gives_again():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with no_more_memory():
        with pytest.raises(MemoryError):
            np.ones(MIB, np.uint8)
        with pytest.raises(MemoryError):
            bytearray(1 << 12)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert np.ones(64 * MIB, np.uint8).nbytes == 64 * MIB


def test_the_limit_is_put_back_whatever_happens_and_the_error_says_how_far_it_reaches():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MemoryError) as caught, MEMORY_CAP.around():
        bytearray(MIB)
    assert caught.value.scope == "context"
    assert resource.getrlimit(resource.RLIMIT_AS) == before


OPENS = """
import sys
from harness.faults.memory_cap import no_more_memory
from harness.models.reference import resolve
from harness.models.registry import load_adapter

adapter = load_adapter(sys.argv[1])
model = resolve("builtin:permutation", adapter.suffixes)
adapter.open(model, adapter.cpu_delegate, {}).close()  # what is loaded once is loaded
try:
    with no_more_memory():
        adapter.open(model, adapter.cpu_delegate, {})
    print("opened")
except Exception as error:
    print("refused", type(error).__name__, error)
adapter.open(model, adapter.cpu_delegate, {}).close()
print("and opened afterwards")
"""


@pytest.mark.runtime
@pytest.mark.parametrize("name", ["onnxruntime", "litert", "tflite"])
def test_a_runtime_does_not_open_without_memory_and_opens_afterwards(name):
    probe = load_adapter(name).probe()
    if not probe.importable:
        pytest.skip(f"{name} is not installed here: {probe.why_not}")
    done = subprocess.run([sys.executable, "-c", OPENS, name], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode < 0:
        return  # it died of it, in native code: that too is what the fault is for, and a worker contains it
    refused, afterwards = done.stdout.splitlines()
    assert refused.startswith("refused ModelLoadError")
    assert afterwards == "and opened afterwards"


def test_a_call_that_needs_more_fails_in_a_service_and_its_neighbours_go_on(execute, monkeypatch):
    class NeedsMemory(StagedCall):
        def bind(self):
            bytearray(MIB)
            super().bind()

    def call(session, inputs):
        return NeedsMemory(session, inputs)

    monkeypatch.setattr(NumpySession, "call", call)

    @scenario(exercises=(), tasks=3)
    def script(script):
        script.arm("memory-cap", point="bind", nth=2)
        service = script.open_service()
        for _ in range(3):
            service.submit(script.task()).result()
        service.close()

    execution = execute(script)
    assert execution.injected == {"memory-cap": 1}
    ended = [(event.task, event.attrs["outcome"]) for event in execution.history.events if event.kind == "deliver"]
    assert ended == [("t1", "SUCCEEDED"), ("t2", "FAILED"), ("t3", "SUCCEEDED")]
