"""The scenarios that need more than a queue or a pool, on the built-in services that have it."""

from __future__ import annotations

import pytest

from harness.execution.cell import run_cell
from harness.models.reference import next_version, resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from scenarios.catalogue import load

pytestmark = pytest.mark.usefixtures("engine")

SHAPES = ("two-shapes-alternating", "resize-races-a-run", "unseen-shape", "shape-out-of-range")
MEMORY = ("memory-pressure", "memory-sheds-the-queue", "memory-of-a-cancelled-run")
COUNTED = ("counters-add-up", "counters-of-joined-requests", "counters-while-tasks-come-and-go")
KEPT = ("error-leaves-its-evidence", "wait-in-vain-leaves-its-evidence", "expiry-leaves-its-evidence")
CASES = [
    *((name, "queue", "builtin:rows") for name in SHAPES),
    *((name, "pool", "builtin:rows") for name in SHAPES),
    *((name, service, "builtin:permutation") for name in MEMORY for service in ("queue", "pool")),
    *((name, service, "builtin:permutation") for name in (*COUNTED, *KEPT) for service in ("queue", "pool")),
    *(
        (name, "pipeline", "builtin:permutation")
        for name in ("pipeline-hands-over", "pipeline-backs-up", "queued-cancel")
    ),
    *(("two-clients-of-one-model", service, "builtin:permutation") for service in ("queue", "pool")),
]


def judged(name, service, model="builtin:permutation", executions=12):
    adapter = load_adapter("numpy")
    target = TargetSpec("numpy", "numpy", model=model)
    file, following = resolve(model, adapter.suffixes), next_version(model)
    newer = resolve(following, adapter.suffixes) if following else None
    expectations = compute(target, file, 1, 16, shaped=4, next_model=newer)
    spec = ServiceSpec(service, slots=2 if "pool" in service else 1)
    cell = Cell(name, target, spec, file.digest, Budget(executions=executions), seed=5)
    return run_cell(cell, load(name), file, expectations, lambda _: None, newer)


@pytest.mark.parametrize(("name", "service", "model"), CASES)
def test_the_service_passes(name, service, model):
    result = judged(name, service, model)
    assert result.verdict is Verdict.PASS, result.reason
    assert not result.findings


def test_a_model_without_a_dynamic_dimension_has_nothing_to_resize():
    result = judged("two-shapes-alternating", "queue")
    assert (result.verdict, result.reason) == (Verdict.NOT_APPLICABLE, "the model has no dynamic dimension")


def test_a_service_without_shapes_says_so():
    result = judged("two-shapes-alternating", "pipeline")
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert "shapes" in result.reason


def test_a_service_that_says_nothing_of_itself_is_not_looked_at():
    result = judged("error-leaves-its-evidence", "pipeline")
    assert (result.verdict, result.reason) == (
        Verdict.NOT_APPLICABLE,
        "the service does not declare counters, incidents",
    )


def test_the_model_that_was_switched_to_is_recorded_where_outputs_tell_it_apart():
    newer = resolve("builtin:permutation-2", load_adapter("numpy").suffixes)
    assert judged("switch-under-load", "queue").next_model_digest == newer.digest
    assert judged("many-clients", "queue").next_model_digest == ""
    assert judged("switch-under-load", "queue", "builtin:affine").next_model_digest == ""
