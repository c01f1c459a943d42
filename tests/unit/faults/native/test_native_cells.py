"""Faults inside native code in cells: what each does to a run, who notices, and that a replay does it again."""

from __future__ import annotations

import msgspec
import pytest
from cell_cases import NativeBench, confirmed, kinds, of, oracle

from harness.faults.catalogue import FAMILIES
from harness.faults.fault import Scope
from harness.scenario import scenario
from harness.suite.plan import FaultSpec
from harness.verdict import Verdict
from scenarios.catalogue import load

pytestmark = [pytest.mark.runtime, pytest.mark.usefixtures("engine")]

NATIVE = sorted(name for name, fault in FAMILIES.items() if fault.native is not None)
FAILING = {"native-run-failure": "RunError"}
NOT_OPENED = {"native-create-failure", "native-prepare-failure"}
ALTERED = {
    "native-nan-output": "injected:nan",
    "native-stale-output": "injected:stale:t1",
    "native-wrong-output": "injected:garbage",
}
OTHERS = {"native-hang", "native-slow", "native-thread-bound"}
KILLING = {"native-abort", "native-bus-error", "native-segfault"}
"""Asked in processes of their own: see `test_native_deaths.py`."""
HELD = ("held-cancel-inside-native-code", "held-close-inside-native-code", "held-budget-inside-native-code")
SERVICES = (("queue", 1), ("pool", 2))


@scenario(exercises=("terminal-once",), tasks=3)
def three_tasks(script):
    service = script.open_service()
    for _ in range(3):
        service.submit(script.task()).result()
    service.close()


def test_every_native_family_is_asked_here():
    assert {*FAILING, *NOT_OPENED, *ALTERED, *OTHERS, *KILLING} == set(NATIVE)
    assert {name for name in NATIVE if FAMILIES[name].kills} == KILLING
    assert {FAMILIES[name].scope for name in KILLING} == {Scope.PROCESS}
    assert {name for name in NATIVE if FAMILIES[name].spares_fallback} == NOT_OPENED


def test_a_run_fails_inside_native_code_and_its_task_alone(bench):
    execution = bench.once(three_tasks, FaultSpec("native-run-failure", nth=2))
    (struck,) = of(execution, "fault-injected")
    assert (struck.task, struck.session, struck.attrs["scope"]) == ("t2", "s1", "request")
    (end,) = of(execution, "invoke-end", answer="error")
    assert end.attrs["error"] == "RunError"
    assert [event.task for event in of(execution, "deliver", outcome="FAILED")] == ["t2"]
    (counted,) = of(execution, "native-counters")
    assert counted.attrs == {"live": 0, "invokes": 3, "strikes": 1, "foreign_invokes": counted.attrs["foreign_invokes"]}
    assert not execution.findings


@pytest.mark.parametrize("name", sorted(NOT_OPENED))
def test_a_session_does_not_open_but_on_the_fallback(bench, name):
    @scenario(exercises=(), tasks=1)
    def falls_back(script):
        service = script.open_service(fallback=True)
        service.submit(script.task()).result()

    refused = bench.once(three_tasks, name)
    of_kernel = bench.target.adapter == "onnxruntime" and name == "native-prepare-failure"
    error = "ModelLoadError" if of_kernel else "DelegateInitError"
    assert [event.attrs["error"] for event in of(refused, "session-open-end")] == [error]
    assert not of(refused, "submit-begin")
    fallen = bench.once(falls_back, name)
    assert [event.attrs["answer"] for event in of(fallen, "session-open-end")] == ["error", "ok"]
    assert of(fallen, "deliver", outcome="SUCCEEDED", output="match")
    assert not refused.findings + fallen.findings


@pytest.mark.parametrize("name", sorted(ALTERED))
def test_outputs_are_computed_otherwise_and_known_for_that(bench, name):
    nth = 1 if name == "native-stale-output" else 2  # a session's first run is spared
    execution = bench.once(three_tasks, FaultSpec(name, nth=nth))
    outputs = {event.task: event.attrs["output"] for event in of(execution, "deliver")}
    assert outputs == {"t1": "match", "t2": ALTERED[name], "t3": "match"}


def test_a_slow_run_takes_virtual_time_and_succeeds(bench):
    execution = bench.once(three_tasks, FaultSpec("native-slow", nth=2))
    (struck,) = of(execution, "fault-injected")
    end = next(event for event in of(execution, "invoke-end") if event.task == "t2")
    assert end.at_ns - struck.at_ns == pytest.approx(5e9, rel=0.01)
    assert len(of(execution, "deliver", output="match")) == 3
    assert of(execution, "native-counters")[0].attrs["strikes"] == 1


def test_a_hang_is_held_inside_native_code_until_nobody_else_can_move(bench):
    execution = bench.once(three_tasks, "native-hang")
    for kind in ("held", "in-native", "gate-opened", "unheld"):
        assert kinds(execution)[kind] == 1
    held, opened, unheld = (of(execution, kind)[0] for kind in ("held", "gate-opened", "unheld"))
    assert held.seq < opened.seq < unheld.seq
    assert len(of(execution, "deliver", output="match")) == 3
    assert not execution.findings


def test_what_is_bound_to_its_thread_runs_there_in_our_services_and_not_in_one_that_opens_elsewhere(bench, specimens):
    for service, slots in SERVICES:
        result = bench.run(three_tasks, "native-thread-bound", service=service, slots=slots)
        assert result.verdict is Verdict.PASS, result.reason
    wrong = specimens / "owner_thread" / "thread_for_every_task.py"
    result = bench.run(three_tasks, "native-thread-bound", service=f"{wrong}:specimen")
    assert "owner-thread" in confirmed(result)
    foreign = bench.once(three_tasks, "native-thread-bound", service=f"{wrong}:specimen")
    assert of(foreign, "native-counters")[0].attrs["foreign_invokes"] == 3
    assert {event.attrs["error"] for event in of(foreign, "invoke-end")} == {"RunError"}


@pytest.mark.parametrize(("service", "slots"), SERVICES)
@pytest.mark.parametrize("reference", HELD)
def test_our_services_stand_cancel_and_close_inside_native_code(bench, reference, service, slots):
    for strategy in ("portfolio", "exhaustive"):  # the second gives executions up with a call held
        result = bench.run(load(reference), service=service, slots=slots, executions=8, strategy=strategy)
        assert result.verdict is Verdict.PASS, result.reason
        assert [finding.kind for finding in result.findings] == ["native-library"]
        assert result.native == "held"
        (tally,) = result.faults
        assert tally.kind == "native-hang"
        # A budget may be over before its run has come to native code: then there is nothing to hold.
        assert tally.injected == result.executions or (reference == HELD[2] and tally.injected > 0)


@pytest.mark.parametrize(
    ("name", "reference", "invariant"),
    [
        ("expires_on_time/budget_measured_afterwards", HELD[2], "expires-on-time"),
        ("release_after_drain/closer_releases_at_once", HELD[1], "release-after-drain"),
        ("release_after_drain/cancel_releases_the_session", HELD[0], "release-after-drain"),
        ("buffer_until_return/cancel_frees_the_session", HELD[0], "buffer-until-return"),
    ],
)
def test_a_wrong_service_is_caught_inside_native_code_and_its_twin_is_not(bench, specimens, name, reference, invariant):
    if invariant == "buffer-until-return" and bench.target.adapter == "onnxruntime":
        pytest.skip("its sessions may be run by several threads: there is no buffer to reuse")
    result = bench.run(load(reference), service=f"{specimens / name}.py:specimen")
    assert result.verdict is Verdict.FAIL, result.reason
    assert invariant in confirmed(result)
    twin = bench.run(load(reference), service=f"{specimens / name}.py:twin")
    assert twin.verdict is Verdict.PASS, twin.reason


@pytest.mark.parametrize("reference", HELD)
def test_a_token_replays_the_held_call_twenty_times_of_twenty(bench, reference):
    execution, report = bench.replayed(load(reference), 20)
    assert len(report.digests) == 20
    assert set(report.digests) == {execution.history.digest()}
    assert not report.divergence


def test_several_hangs_end_one_after_the_other(bench):
    execution = bench.once(three_tasks, FaultSpec("native-hang", persistent=True), service="pool", slots=2)
    assert kinds(execution)["in-native"] == 3
    assert len(of(execution, "deliver", output="match")) == 3
    assert not execution.findings


def test_a_budget_that_ends_with_a_call_held_leaves_the_process_clean(bench):
    result = bench.run(load(HELD[1]), executions=1)
    assert result.executions == 1
    again = bench.run(three_tasks, "native-hang", executions=3)
    assert again.verdict is Verdict.PASS, again.reason


def test_a_fault_that_never_reaches_native_code_leaves_the_cell_unknown(bench, monkeypatch):
    from harness.observe.native import NativeStrikes

    monkeypatch.setattr(NativeStrikes, "_point", lambda _self, _point: "destroy")
    result = bench.run(three_tasks, "native-slow")
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason == "native-slow never reached native code"


def test_a_call_that_leaves_the_gate_by_itself_makes_real_time_matter(bench, monkeypatch):
    @scenario(exercises=("terminal-once",), tasks=1)
    def takes_its_time(script):
        service = script.open_service()
        task = service.submit(script.task())
        script.rest()
        sum(range(10_000_000))  # real time, which a sleep under control is not
        task.result()

    monkeypatch.setattr("harness.observe.native.HANG_SECONDS", 0.01)
    execution = bench.once(takes_its_time, "native-hang")
    assert [finding.kind for finding in execution.findings] == ["real-time"]


def test_an_instance_that_outlives_its_session_is_a_leak(bench, monkeypatch):
    from harness.execution.native_path import NativePath

    kept, opens = [], NativePath.open

    def keeping(path, model):
        session = opens(path, model)
        kept.append(vars(session).get("_interpreter") or vars(session).get("_native"))
        return session

    monkeypatch.setattr(NativePath, "open", keeping)
    result = bench.run(three_tasks, "native-run-failure", executions=2)
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason == "1 native instance(s) are alive after every session was closed"
    monkeypatch.undo()
    kept.clear()
    assert bench.run(three_tasks, "native-run-failure", executions=2).verdict is Verdict.PASS


def test_a_script_that_arms_one_unannounced_is_told_so(bench):
    @scenario(exercises=(), tasks=1)
    def unannounced(script):
        script.open_service()
        script.arm("native-hang")

    result = bench.run(unannounced)
    assert result.verdict is Verdict.UNKNOWN
    assert "the scenario must name it in `arms`" in result.reason


def test_numpy_has_no_native_code_to_fail_in():
    bench = NativeBench("numpy")
    for name in ("native-hang", "native-segfault", "native-create-failure"):
        result = bench.run(three_tasks, name)
        assert (result.verdict, result.executions) == (Verdict.NOT_APPLICABLE, 0)
        assert result.reason == "no fault library is there for the native code of numpy"
    assert bench.run(load(HELD[0])).verdict is Verdict.NOT_APPLICABLE


def test_without_a_compiler_the_reason_is_said(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("RACEGATE_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    result = bench.run(load(HELD[0]))
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert result.reason == "there is no C compiler 'no-such-compiler', which CC names"


def test_a_target_whose_place_is_taken_is_not_applicable(bench):
    path = str(bench.target.name)
    asked = {"onnxruntime": "AzureExecutionProvider"}.get(path, "external:/there/vendor.so")
    from harness.execution.native_path import NativePath, NoNativePathError
    from harness.models.registry import load_adapter

    target = msgspec.structs.replace(bench.target, delegate=asked)
    with pytest.raises(NoNativePathError, match=r"fault operator runs on|a delegate of its own"):
        NativePath(load_adapter(path), target, *oracle(bench.target.adapter))


def test_a_model_that_answers_otherwise_through_the_library_is_not_blamed_on_a_service(bench):
    model, expectations = oracle(bench.target.adapter)
    other = msgspec.structs.replace(expectations, answers=tuple(reversed(expectations.answers)))
    from harness.execution.native_path import NativePath, NoNativePathError
    from harness.models.registry import load_adapter

    with pytest.raises(NoNativePathError, match="answers otherwise"):
        NativePath(load_adapter(bench.target.adapter), bench.target, model, other)


def test_runs_that_are_held_already_are_not_held_twice(bench):
    result = bench.run(load("held-running-cancel"), "native-hang")
    assert result.verdict is Verdict.NOT_APPLICABLE
