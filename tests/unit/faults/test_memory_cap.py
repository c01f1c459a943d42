"""With the cap a runtime is refused memory by the system itself, says so, and works again afterwards."""

from __future__ import annotations

import resource
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from adapters.base import StagedCall
from adapters.numpy_reference import NumpySession
from harness.execution.cell import run_cell
from harness.execution.share import ShareReport, merge
from harness.faults.memory_cap import MEMORY_CAP, no_more_memory
from harness.models.registry import load_adapter
from harness.scenario import scenario
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec, TargetSpec
from harness.verdict import CellResult, FaultTally, Finding, Verdict

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


SMALL = "a small model needs no block while a session of it opens again: nothing is shown about memory then"


def judged(bench, script, faults=()):
    model, expectations = bench
    target = TargetSpec("numpy", "numpy")
    cell = Cell(script.id, target, ServiceSpec("queue"), model.digest, Budget(executions=3), faults=faults)
    return run_cell(cell, script, model, expectations, lambda _: None)


@scenario(exercises=("own-output", "terminal-once"), tasks=2)
def one_after_the_other(script):
    service = script.open_service()
    for _ in range(2):
        service.submit(script.task()).result()
    service.close()


@scenario(exercises=("own-output", "terminal-once"), tasks=2)
def one_after_the_other_without_memory(script):
    script.arm("memory-cap")
    service = script.open_service()
    for _ in range(2):
        service.submit(script.task()).result()
    service.close()


@pytest.mark.parametrize("outside", [True, False])
def test_a_cap_that_refused_nothing_is_no_strike_and_its_cell_is_undecided(bench, outside):
    if outside:
        result = judged(bench, one_after_the_other, (FaultSpec("memory-cap"),))
    else:
        result = judged(bench, one_after_the_other_without_memory)
    assert result.verdict is Verdict.UNKNOWN, SMALL
    assert result.reason == "memory-cap refused nothing: no call that it waited for asked for a block of 4 KiB"
    assert result.faults == ()
    tallies = {tally.id: tally.checked for tally in result.invariants}
    assert tallies["own-output"] == 6
    assert tallies["fault-contained"] == 0


def test_the_same_without_a_fault_passes(bench):
    assert judged(bench, one_after_the_other).verdict is Verdict.PASS


def test_a_cap_that_refused_something_in_one_execution_was_there_to_be_seen():
    missed = Finding("fault-missed", f"memory-cap {MEMORY_CAP.comes_through}")
    sums = CellResult("s", "", "", Verdict.UNKNOWN, findings=(missed,))
    assert merge([ShareReport(sums)]).verdict is Verdict.UNKNOWN
    struck = msgspec.structs.replace(sums, faults=(FaultTally("memory-cap", 1),))
    assert merge([ShareReport(struck)]).verdict is Verdict.PASS
    assert merge([ShareReport(sums), ShareReport(struck)]).verdict is Verdict.PASS


def test_elsewhere_than_on_linux_nothing_is_capped(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with MEMORY_CAP.around():
        assert len(bytearray(64 * MIB)) == 64 * MIB
