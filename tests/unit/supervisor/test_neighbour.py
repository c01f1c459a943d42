"""Another process on the device is watched while faults strike: real workers, a real device, a real runtime below."""

import os
import shutil
import signal
import sys
import threading
from pathlib import Path

import pytest

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.observe.neighbour import Look
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, FaultSpec, Plan, ServiceSpec, TargetSpec
from harness.supervisor import neighbour as module
from harness.supervisor.neighbour import NeighbourProcess, is_watched
from harness.supervisor.run import Materials, run_plan
from harness.supervisor.staff import Staff
from harness.supervisor.switch import StopSwitch
from harness.verdict import SuiteRecord, Verdict
from harness.worker.protocol import ScenarioRecord

SHARED_DEVICE = Path(__file__).with_name("shared_device")
sys.path.append(str(SHARED_DEVICE))
from device import MODE, Device  # noqa: E402 - the device's folder is where workers look for it, too

ID = "fault-contained"
KILLED = "out-of-memory-kill"


@pytest.fixture
def device(tmp_path, monkeypatch):
    """A folder with the device, in which workers start too."""
    for file in SHARED_DEVICE.glob("*.py"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))  # the workers' too
    return tmp_path


@pytest.fixture
def impatient(monkeypatch):
    """Nobody is waited for long: for those who have no answer in any case."""
    for name, seconds in (("HELD_S", 0.5), ("PATIENCE_S", 0.5), ("SECOND_S", 1.5), ("PROVEN_S", 0.3)):
        monkeypatch.setattr(module, name, seconds)


@pytest.fixture
def run(device, watched):  # noqa: ARG001 - the folder is the working directory
    """Run one cell on the device over a runtime for each service, and return the result, or all of them."""

    def go(services, *faults, runtime="Numpy", adapter="", executions=3, **target):
        adapter = adapter or f"device:On{runtime}"
        model = resolve("builtin:permutation", load_adapter(adapter).suffixes)
        specs = [ServiceSpec(name if name == "queue" else f"services.py:{name}") for name in services.split()]
        plan = Plan(
            suite=SuiteRecord("test", "1"),
            targets=(TargetSpec("one", adapter, **target),),
            services=tuple(specs),
            scenarios=("many-clients",),
            budget=Budget(executions=executions),
            faults=tuple(FaultSpec(fault, nth=2) for fault in faults or ("run-failure",)),
            seed=1,
        )
        materials = {"one": Materials(model=model, controls={}, shared_state={})}
        results = [item.record.cells[0] for item in run_plan(plan, materials, watched, StopSwitch())]
        return results[0] if len(results) == 1 else results

    return go


@pytest.fixture
def process(device):  # noqa: ARG001 - the folder is the working directory
    """A neighbour process of the device over numpy, ready to be asked."""
    target = TargetSpec("one", "device:OnNumpy")
    model = resolve("builtin:permutation", load_adapter(target.adapter).suffixes)
    made = NeighbourProcess(Staff(target, 30.0, StopSwitch()), model)
    made.expectations = compute(TargetSpec("one", "numpy"), model, 1, 2)  # the device is the neighbour's alone here
    assert made.ready(made.expectations) == ""
    yield made
    made.close()


def harmed(result, how):
    """One violation of fault-contained, with its proof, found in the first execution and confirmed."""
    (failure,) = result.failures
    (violation,) = failure.violations
    look = failure.events[violation.events[1]]
    assert (result.verdict, violation.invariant, look.kind) == (Verdict.FAIL, ID, "process-look")
    assert violation.message.endswith(how)
    return look


def fine(result, executions=3):
    assert (result.verdict, result.executions, result.process_looks) == (Verdict.PASS, executions, executions)


@pytest.mark.usefixtures("impatient")
def test_a_lock_that_is_not_given_back_keeps_another_process_waiting(run):
    harmed(run("KeepsTheLock"), "afterwards another process and a second one were not served any more")


def test_a_lock_that_is_given_back_does_not(run):
    fine(run("LocksTheDevice"))


def test_a_device_left_in_another_mode_gives_another_process_wrong_outputs(run):
    restored, left = run("RestoresTheMode LeavesTheMode")
    fine(restored)
    look = harmed(left, "afterwards another process was given what is not its own")
    assert look.attrs["fresh"] == "garbage"


def test_a_reset_of_the_whole_device_loses_what_another_process_had_in_flight(run):
    left_alone, reset = run("LeavesTheDeviceAlone ResetsTheDevice")
    fine(left_alone)
    look = harmed(reset, "afterwards another process failed with RunError")
    assert dict(look.attrs) == {"moment": "after", "fresh": "match", "in_flight": "error:RunError"}


def test_a_fault_of_the_whole_device_may_cost_another_process_its_request(run):
    result = run("ResetsTheDevice", "device-reset", executions=1)
    assert not [tally for tally in result.invariants if tally.violated]
    assert result.process_looks == 1


RUNTIMES = [
    "litert",
    pytest.param("onnxruntime", marks=pytest.mark.soak),
    pytest.param("tflite", marks=pytest.mark.soak),
]


@pytest.mark.runtime
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_another_process_goes_on_while_a_call_hangs_in_native_code(run, require_runtime, runtime):
    require_runtime(runtime)
    result = run("queue", "native-hang", adapter=runtime)
    if result.verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(result.reason)
    assert result.verdict is Verdict.PASS
    assert result.process_looks == 2 * 3  # while it is held, and afterwards


@pytest.mark.runtime
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("fault", "how"),
    [
        ("native-segfault", "crashed with SIGSEGV"),
        pytest.param(KILLED, "killed with SIGKILL", marks=pytest.mark.soak),
    ],
)
def test_another_process_outlives_the_worker(run, require_runtime, runtime, fault, how):
    require_runtime(runtime)
    result = run("queue", fault, adapter=runtime)
    if result.verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(result.reason)
    assert how in result.reason
    assert result.reason.endswith("another process on the device went on, with its own outputs")
    (tally,) = result.invariants
    assert (tally.id, tally.checked, tally.violated) == (ID, 2, 0)


def test_a_death_in_the_middle_of_a_recovery_leaves_the_device_in_another_mode(run):
    """The second invoke fails, the third is the service's second try, in the other mode."""
    result = run("RestoresTheMode", "run-failure", KILLED)
    assert result.verdict is Verdict.KILLED
    assert f"{KILLED} struck the process, with scope process, and afterwards another process was given" in result.reason
    assert [(tally.id, tally.violated) for tally in result.invariants] == [(ID, 1)]


def test_a_device_that_takes_one_request_at_a_time_is_not_blamed_while_one_hangs(run, monkeypatch):
    monkeypatch.setattr(module, "HELD_S", 0.5)
    result = run("LocksTheDevice", "run-hang")
    assert (result.verdict, result.process_looks) == (Verdict.PASS, 2 * 3)


@pytest.mark.runtime
@pytest.mark.parametrize("runtime", ["Litert", "Onnxruntime", "Tflite"])
@pytest.mark.soak
@pytest.mark.usefixtures("impatient")
def test_the_same_over_each_runtime(run, require_runtime, runtime):
    require_runtime(runtime.lower())
    fine(run("LocksTheDevice", runtime=runtime))
    harmed(run("KeepsTheLock", runtime=runtime), "were not served any more")


def test_a_cell_in_which_no_other_process_could_be_watched_says_why(run, monkeypatch):
    monkeypatch.setattr(NeighbourProcess, "ready", lambda *_: "the device has room for one")
    result = run("queue")
    assert (result.verdict, result.process_looks) == (Verdict.PASS, 0)
    assert [(finding.kind, finding.message) for finding in result.findings] == [
        ("unwatched", "no other process on the device was watched: the device has room for one")
    ]


def test_one_that_is_not_answered_rightly_before_any_fault_is_of_no_use(process):
    Device().memory[MODE] = 1
    assert process.ready(process.expectations) == "it is not answered rightly before any fault has struck"


def test_one_process_is_kept_and_one_that_died_is_replaced(process):
    first = process._worker
    assert process.look("after") == Look("match", "match")
    assert process.ready(process.expectations) == ""
    assert process._worker is first
    first.kill()
    assert process.ready(process.expectations) == ""
    assert process._worker is not first


@pytest.mark.usefixtures("impatient")
def test_what_waits_while_a_call_is_held_is_no_harm(process):
    with Device():
        assert process.look("held") == Look("waits")
    assert process.look("after") == Look("match", "match")


@pytest.mark.usefixtures("impatient")
def test_a_process_that_gets_no_processor_is_not_blamed_on_anybody(process):
    os.kill(process._worker.pid, signal.SIGSTOP)
    assert process.look("after") == Look("lost")
    assert process.look("after") == Look("match")


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_comes_late_is_told_from_none(process, monkeypatch):
    device = Device()
    monkeypatch.setattr(process, "_from_another", device.__exit__)
    device.__enter__()
    assert process.look("after") == Look("late")


@pytest.mark.usefixtures("impatient")
def test_a_slow_model_is_given_more_time(process):
    process._answers_s = 2.0  # ten times so long is waited
    device = Device()
    device.__enter__()
    timer = threading.Timer(1.0, device.__exit__)
    timer.start()
    assert process.look("after") == Look("match", "match")
    timer.join()


@pytest.mark.usefixtures("impatient")
def test_once_a_second_process_had_no_answer_either_the_next_look_is_short(process, monkeypatch):
    with Device():
        assert process.look("after") == Look("silent")
        monkeypatch.setattr(process, "_from_another", None)  # nobody else is asked any more
        assert process.look("after") == Look("silent")
    monkeypatch.setattr(module, "PROVEN_S", 20.0)
    assert process.look("after") == Look("match")
    assert not process._proven


@pytest.mark.parametrize("adapter", ["litert", "numpy"])
@pytest.mark.parametrize("faults", [(), (FaultSpec("run-failure"),)])
@pytest.mark.parametrize("may_strike", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_what_may_be_struck_is_watched(adapter, faults, may_strike, wanted):
    scenario = ScenarioRecord("s", "", (), (), "atomic", 1, may_strike)
    cell = Cell("s", TargetSpec("t", adapter, watch_process=wanted), ServiceSpec("queue"), "", faults=faults)
    assert is_watched(cell, scenario) is (adapter != "numpy" and wanted and (bool(faults) or may_strike))
