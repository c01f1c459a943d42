"""Every fault of the catalogue has a wrong service that a named invariant fails, or a reason why none is possible."""

import inspect

import pytest

from harness.engine.install import install
from harness.execution.cell import run_cell
from harness.faults.catalogue import FAMILIES
from harness.invariants.catalogue import CATALOGUE
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from scenarios.catalogue import SCENARIOS

TARGET = TargetSpec("litert", "litert")
EXECUTIONS = 2

FROM_OUTSIDE = {
    "memory-cap": ("close_once/half_open_service_leaks", "many-clients", 2, 2),
    "native-create-failure": ("close_once/half_open_service_leaks", "many-clients", 2, 2),
    "native-hang": ("buffer_until_return/cancel_frees_the_session", "cancel-while-running", 1, 1),
    "native-nan-output": ("own_output/last_good_answer", "many-clients", 2, 1),
    "native-prepare-failure": ("close_once/half_open_service_leaks", "many-clients", 2, 2),
    "native-run-failure": ("terminal_once/error_only_logged", "many-clients", 1, 1),
    "native-slow": ("expires_on_time/budget_measured_afterwards", "run-budget", 1, 1),
    "native-stale-output": ("fault_contained/suspects_the_next", "many-clients", 1, 1),
    "native-thread-bound": ("owner_thread/thread_for_every_task", "many-clients", 1, 1),
    "native-wrong-output": ("own_output/last_good_answer", "many-clients", 2, 1),
}
"""Fault -> a specimen, a scenario that it fails in with the fault armed from outside, at which call, and its slots."""

KILLS = "the process dies, and no service outlives it: what a supervisor must do then is in tests/unit/supervisor"
"""Why a fault has no specimen."""


SOURCES = {name: inspect.getsource(scenario.body) for name, scenario in SCENARIOS.items()}


@pytest.mark.parametrize("fault", sorted(FAMILIES))
def test_every_fault_has_a_specimen_or_a_reason(fault, specimens):
    if FAMILIES[fault].kills:
        assert fault not in FROM_OUTSIDE, KILLS
        return
    arming = {name for name, source in SOURCES.items() if f'"{fault}"' in source}
    found = any(arming & set(specimen.scenarios) for specimen in specimens)
    assert found or fault in FROM_OUTSIDE, f"no specimen fails under {fault}"


@pytest.fixture(scope="module")
def litert(bench):
    """The model, and what it must answer. `bench` undoes what cells do to the process."""
    install()
    adapter = load_adapter(TARGET.adapter)
    if not adapter.probe().importable:
        pytest.skip(adapter.probe().why_not)
    model = resolve(TARGET.model, adapter.suffixes)
    return model, compute(TARGET, model, 1, 16)


def judged(litert, fault, scenario, service, nth, slots):
    model, expectations = litert
    spec = ServiceSpec(service, capacity=4, slots=slots)
    cell = Cell(scenario, TARGET, spec, model.digest, Budget(EXECUTIONS), 7, (FaultSpec(fault, nth=nth),))
    result = run_cell(cell, SCENARIOS[scenario], model, expectations, lambda _: None)
    if result.verdict is Verdict.NOT_APPLICABLE:
        pytest.skip(result.reason)
    return result


@pytest.mark.parametrize("fault", sorted(FROM_OUTSIDE))
def test_a_wrong_service_is_failed_and_ours_is_not(litert, fault, specimens):
    name, scenario, nth, slots = FROM_OUTSIDE[fault]
    specimen = next(each for each in specimens if each.name == name)
    wrong = judged(litert, fault, scenario, f"{specimen.path}:specimen", nth, slots)
    assert specimen.invariant in CATALOGUE
    assert wrong.verdict is Verdict.FAIL, wrong.reason
    assert {tally.id for tally in wrong.invariants if tally.violated} >= {specimen.invariant}
    ours = judged(litert, fault, scenario, "pool", nth, slots)
    assert ours.verdict is not Verdict.FAIL, ours.reason
    assert not any(tally.violated for tally in ours.invariants)
    assert all(tally.injected for result in (wrong, ours) for tally in result.faults), "it struck"
