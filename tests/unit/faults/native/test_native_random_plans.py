"""Random plans with a fault inside native code and up to three others: no violation, no hang, nothing left alive.

`RACEGATE_PLAN_SEED=184 pytest tests/unit/faults/native/test_native_random_plans.py` runs one of them again.
"""

import os
import random

import pytest
from cell_cases import NativeBench

from harness.execution.cell import run_cell
from harness.faults.catalogue import FAMILIES
from harness.faults.fault import RUN_POINTS
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec
from scenarios.catalogue import SCENARIOS

pytestmark = [pytest.mark.runtime, pytest.mark.usefixtures("engine")]

FEW, MANY, EXECUTIONS = 5, 300, 8
SURVIVED = sorted(name for name, fault in FAMILIES.items() if not fault.kills and name != "memory-cap")
INSIDE = [name for name in SURVIVED if FAMILIES[name].native is not None]
UNDER_TEST = sorted(name for name, scenario in SCENARIOS.items() if not scenario.endless)
BAD = {
    "budget", "native-left", "native-missed", "nondeterminism", "real-time", "scenario-raised", "thread-died",
    "thread-left", "uncontrolled",
}  # fmt: skip
"""Findings that no fault excuses in our own services."""


def fault(dice, names):
    family = FAMILIES[dice.choice(names)]
    return FaultSpec(
        family.name,
        family.point,
        nth=dice.choice((1, 1, 2, 3)),
        session=dice.choice(("", "", "s1", "s2")),
        task=dice.choice(("", "", "t1", "t2")) if family.point in RUN_POINTS else "",
        persistent=dice.random() < 0.25,
        probability=dice.choice((1.0, 1.0, 0.5)),
        seed=dice.randrange(2**31),
    )


def judge(seed, target, model, expectations):
    """Run one plan; gives how many faults struck inside native code."""
    dice = random.Random(seed)
    service = dice.choice((ServiceSpec("queue"), ServiceSpec("pool", slots=2)))
    faults = (fault(dice, INSIDE), *(fault(dice, SURVIVED) for _ in range(dice.randint(0, 3))))
    scenario = SCENARIOS[dice.choice(UNDER_TEST)]
    cell = Cell(scenario.id, target, service, model.digest, Budget(EXECUTIONS), seed, faults)
    result = run_cell(cell, scenario, model, expectations, lambda _: None)
    told = f"RACEGATE_PLAN_SEED={seed}: {scenario.id} on {service.name} with {faults}"
    failed = [(failure.token, failure.violations, failure.blocked) for failure in result.failures]
    assert not failed, f"{told}: {failed}"
    found = [finding for finding in result.findings if finding.kind in BAD]
    assert not found, f"{told}: {found}"
    crashed = [tally for tally in result.invariants if tally.violated or tally.unknown.startswith("checker crashed")]
    assert not crashed, f"{told}: {crashed}"
    return sum(tally.injected for tally in result.faults if tally.kind in INSIDE)


def plans(bench, count):
    target = bench.target
    model = resolve(target.model, load_adapter(target.adapter).suffixes)
    expectations = compute(target, model, 1, 2 * max(scenario.tasks for scenario in SCENARIOS.values()))
    chosen = os.environ.get("RACEGATE_PLAN_SEED")
    struck = [judge(seed, target, model, expectations) for seed in ([int(chosen)] if chosen else range(count))]
    assert sum(map(bool, struck)) * 3 > len(struck) or len(struck) == 1, "many plans must strike inside native code"


def test_a_few_random_plans():
    plans(NativeBench("litert"), FEW)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_random_plans(bench):
    plans(bench, MANY)
