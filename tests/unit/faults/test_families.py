"""Each family does at the seam what its row in the document says, and is counted."""

from __future__ import annotations

import pytest

from harness.faults.catalogue import FAMILIES
from harness.faults.fault import Lasts, Scope
from harness.scenario import scenario

RAISED = {
    "allocation-failure": "MemoryError",
    "bind-failure": "RunError",
    "context-lost": "ContextLostError",
    "device-reset": "DeviceResetError",
    "fetch-failure": "RunError",
    "mapping-failure": "MappingError",
    "persistent-run-failure": "RunError",
    "poison-request": "RunError",
    "run-failure": "RunError",
    "run-timeout": "RunTimeoutError",
    "worker-death": "WorkerDeathError",
}
NOT_OPENED = {
    "compile-timeout": "CompileTimeoutError",
    "delegate-create-failure": "DelegateInitError",
    "delegate-init-failure": "DelegateInitError",
    "delegate-prepare-failure": "DelegatePrepareError",
    "prepared-asset-mismatch": "PreparedAssetError",
    "session-open-failure": "ModelLoadError",
}
ALTERED = {
    "nan-output": "injected:nan",
    "stale-output": "injected:stale:t1",
    "truncated-output": "injected:wrong-shape",
    "wrong-output": "injected:garbage",
    "wrong-shape": "injected:wrong-shape",
}
DELAYED = {"clock-jump": 3 * 3600.0, "slow-run": 5.0}
HUNG = {"close-hang": "session-close", "lost-fence": "fetch", "run-hang": "invoke"}
CLOSING = {"close-failure": "RunError"}
KILLING = {"out-of-memory-kill", "process-abort", "process-bus-error", "process-segfault"}
"""Asked in processes of their own: see `tests/end_to_end/test_process_faults.py`."""
BY_THE_SYSTEM = {"memory-cap"}
"""Asked of each runtime: see `test_memory_cap.py`."""
SECOND = {"nth": 2}
SECONDS = 1_000_000_000


def test_every_family_is_asked_here():
    asked = {*RAISED, *NOT_OPENED, *ALTERED, *DELAYED, *HUNG, *CLOSING, *KILLING, *BY_THE_SYSTEM}
    assert asked == {name for name, fault in FAMILIES.items() if fault.native is None}  # native/test_native_cells.py


def three_tasks(arm, **options):
    @scenario(exercises=(), tasks=3)
    def script(script):
        script.arm(arm, **options)
        service = script.open_service(fallback=False)
        for _ in range(3):
            service.submit(script.task()).result()
        service.close()

    return script


def of(execution, kind, **attrs):
    return [
        event
        for event in execution.history.events
        if event.kind == kind and all(event.attrs.get(name) == value for name, value in attrs.items())
    ]


@pytest.mark.parametrize("name", RAISED)
def test_a_run_ends_with_the_error_and_the_task_fails(execute, name):
    execution = execute(three_tasks(name, **SECOND))
    (first, *_) = of(execution, "fault-injected")
    assert (first.task, first.session) == ("t2", "s1")
    assert first.attrs == {"fault": name, "point": FAMILIES[name].point, "scope": FAMILIES[name].scope}
    ends = of(execution, f"{FAMILIES[name].point}-end", answer="error")
    assert {event.attrs["error"] for event in ends} == {RAISED[name]}
    failed = [event.task for event in of(execution, "deliver", outcome="FAILED")]
    assert failed[0] == "t2"
    lasts = FAMILIES[name].lasts
    assert failed[1:] == (["t3"] if lasts is Lasts.FOR_GOOD else [])
    if lasts in {Lasts.SESSION, Lasts.DEVICE}:  # another session is sound, and the queue opens one
        assert len(of(execution, "session-open-end")) == 2
    assert execution.injected == {name: len(of(execution, "fault-injected"))}


def test_an_error_says_how_far_it_reaches(execute):
    found = {}

    def asked(name):
        @scenario(exercises=(), tasks=1)
        def script(script):
            script.arm(name)
            task = script.open_service().submit(script.task())
            task.result()
            error = task.future.exception()
            found[name] = getattr(error, "scope", None) or error.__cause__.scope

        execute(script)

    for name in RAISED:
        asked(name)
    assert found == {name: FAMILIES[name].scope for name in RAISED}


@pytest.mark.parametrize("name", NOT_OPENED)
def test_a_session_does_not_open(execute, name):
    execution = execute(three_tasks(name))
    (end,) = of(execution, "session-open-end")
    assert end.attrs["error"] == NOT_OPENED[name]
    (answer,) = of(execution, "service-open-end")
    assert answer.attrs["answer"] == "error"
    assert not of(execution, "submit-begin")


@pytest.mark.parametrize("name", [name for name in NOT_OPENED if name.startswith(("delegate", "compile"))])
def test_what_spares_the_fallback_does(execute, name):
    @scenario(exercises=(), tasks=1)
    def script(script):
        script.arm(name)
        service = script.open_service(fallback=True)
        service.submit(script.task()).result()

    execution = execute(script)
    assert [event.attrs["answer"] for event in of(execution, "session-open-end")] == ["error", "ok"]
    assert of(execution, "deliver", outcome="SUCCEEDED", output="match")


def test_whatever_needs_the_delegate_or_its_asset_spares_the_fallback():
    sparing = {name for name, fault in FAMILIES.items() if fault.spares_fallback and fault.native is None}
    assert sparing == set(NOT_OPENED) - {"session-open-failure"}


@pytest.mark.parametrize("name", ALTERED)
def test_outputs_are_altered_and_known_for_that(execute, name):
    execution = execute(three_tasks(name, **({} if name == "stale-output" else SECOND)))
    outputs = {event.task: event.attrs["output"] for event in of(execution, "deliver")}
    assert outputs == {"t1": "match", "t2": ALTERED[name], "t3": "match"}


def test_a_stale_output_needs_a_run_before_it_on_its_session(execute):
    @scenario(exercises=(), tasks=2)
    def script(script):
        script.arm("stale-output", persistent=True)
        service = script.open_service()
        for _ in range(2):
            service.submit(script.task()).result()

    execution = execute(script)
    assert [event.task for event in of(execution, "fault-injected")] == ["t2"]


@pytest.mark.parametrize("name", DELAYED)
def test_time_passes_and_the_run_succeeds(execute, name):
    execution = execute(three_tasks(name, **SECOND))
    (struck,) = of(execution, "fault-injected")
    end = next(event for event in of(execution, "invoke-end") if event.task == "t2")
    assert round((end.at_ns - struck.at_ns) / SECONDS, 3) == pytest.approx(DELAYED[name], abs=0.01)
    assert len(of(execution, "deliver", output="match")) == 3


@pytest.mark.parametrize("name", HUNG)
def test_a_hang_ends_when_nobody_else_can_move(execute, name):
    execution = execute(three_tasks(name))
    (opened,) = of(execution, "gate-opened")
    assert opened.attrs == {"point": HUNG[name], "hangs": True}
    (held,), (unheld,) = of(execution, "held"), of(execution, "unheld")
    assert held.seq < opened.seq < unheld.seq
    assert len(of(execution, "deliver", output="match")) == 3
    assert not of(execution, "stuck")


def test_an_interrupt_ends_a_hang_of_a_run_and_no_other(execute):
    def cancelled(name):
        @scenario(exercises=(), tasks=1)
        def script(script):
            script.arm(name)
            service = script.open_service()
            task = service.submit(script.task())
            script.rest()
            task.cancel()
            service.close()

        return execute(script)

    interrupted = cancelled("run-hang")
    assert not of(interrupted, "gate-opened")
    assert [event.attrs["error"] for event in of(interrupted, "invoke-end")] == ["RunInterruptedError"]
    late = cancelled("lost-fence")
    assert of(late, "gate-opened")
    assert [event.attrs["answer"] for event in of(late, "fetch-end")] == ["ok"]


def test_a_release_that_fails_is_what_close_says(execute):
    execution = execute(three_tasks("close-failure"))
    assert [event.attrs["error"] for event in of(execution, "session-close-end")] == ["RunError"]
    (closed,) = of(execution, "service-close-end")
    assert closed.attrs["answer"] == "raised"


def test_what_ends_the_process_says_so():
    assert {name for name, fault in FAMILIES.items() if fault.kills and fault.native is None} == KILLING
    assert {FAMILIES[name].scope for name in KILLING} == {Scope.PROCESS}


@pytest.mark.parametrize("name", FAMILIES)
def test_each_has_a_scope_and_one_line_for_people(name):
    family = FAMILIES[name]
    assert family.scope in Scope
    assert family.says
    assert "\n" not in family.says
    assert (family.alter is None) == (name not in ALTERED)
