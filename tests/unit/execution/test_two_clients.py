"""Two clients of one resident model, on every runtime: they share its sessions there as on the numpy reference."""

import pytest

from harness.execution.cell import run_cell
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from scenarios.catalogue import load

pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.runtime]

EXECUTIONS = 12


@pytest.mark.parametrize("service", ["queue", "pool"])
@pytest.mark.parametrize("runtime", ["onnxruntime", "litert", "tflite"])
def test_the_second_client_loads_nothing(runtime, service):
    adapter = load_adapter(runtime)
    if not (probe := adapter.probe()).importable:
        pytest.skip(f"{runtime} is not installed here: {probe.why_not}")
    target = TargetSpec(runtime, runtime, model="builtin:permutation")
    model = resolve(target.model, adapter.suffixes)
    expectations = compute(target, model, 1, 16, shaped=0)
    slots = 2 if service == "pool" else 1
    budget = Budget(executions=EXECUTIONS)
    cell = Cell("two-clients-of-one-model", target, ServiceSpec(service, slots=slots), model.digest, budget, seed=5)
    result = run_cell(cell, load(cell.scenario), model, expectations, lambda _: None, None)
    assert result.verdict is Verdict.PASS, result.reason
    (tally,) = (tally for tally in result.invariants if tally.id == "residency")
    assert (tally.checked, tally.violated) == (EXECUTIONS, 0)
