"""Random fault plans: whatever is armed, the queue and the pool break no invariant, hang nowhere and leak nothing.

A plan is up to four faults, chosen by one seed, armed from outside in a scenario chosen by the same seed. What fails
names its seed: `RACEGATE_PLAN_SEED=N pytest tests/unit/faults/test_random_plans.py` runs that plan alone.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from harness.engine.install import install
from harness.execution.cell import run_cell
from harness.faults.catalogue import FAMILIES
from harness.faults.fault import RUN_POINTS
from harness.faults.plan import POINTS
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from scenarios.catalogue import SCENARIOS

TARGET = TargetSpec("numpy", "numpy")
SPECIMENS = Path(__file__).parents[2] / "specimens" / "fault_contained"
FEW, MANY = 40, 500
MOST_FAULTS = 4
EXECUTIONS = 12
BAD = {"uncontrolled", "nondeterminism", "budget", "real-time", "scenario-raised", "thread-died", "thread-left"}
"""Findings that no fault excuses in our own services."""
SURVIVED = sorted(
    name for name, family in FAMILIES.items() if not family.kills and family.native is None and name != "memory-cap"
)
"""What strikes numpy and leaves the process alive; of a cap on its memory the test process itself would suffer."""
UNDER_TEST = sorted(name for name, scenario in SCENARIOS.items() if scenario.native == "atomic")


@pytest.fixture(scope="module")
def bench():
    install()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    model = resolve(TARGET.model, load_adapter("numpy").suffixes)
    yield model, compute(TARGET, model, 1, 2 * max(scenario.tasks for scenario in SCENARIOS.values()))
    if cores is not None:
        os.sched_setaffinity(0, cores)


def fault(dice):
    family = FAMILIES[dice.choice(SURVIVED)]
    moved = family.alter is None and dice.random() < 0.25
    point = dice.choice(POINTS) if moved else family.point
    return FaultSpec(
        family.name,
        point,
        nth=dice.choice((1, 1, 2, 3)),
        session=dice.choice(("", "", "s1", "s2")),
        task=dice.choice(("", "", "t1", "t2")) if point in RUN_POINTS else "",
        persistent=dice.random() < 0.25,
        probability=dice.choice((1.0, 1.0, 0.5)),
        seed=dice.randrange(2**31),
    )


def cell(seed, digest, service=None):
    dice = random.Random(seed)
    chosen = dice.choice((ServiceSpec("queue"), ServiceSpec("pool", slots=2)))
    faults = tuple(fault(dice) for _ in range(dice.randint(1, MOST_FAULTS)))
    return Cell(dice.choice(UNDER_TEST), TARGET, service or chosen, digest, Budget(EXECUTIONS), seed, faults)


def judge(seed, bench, service=None):
    """Run one plan; gives how many faults struck."""
    model, expectations = bench
    plan = cell(seed, model.digest, service)
    result = run_cell(plan, SCENARIOS[plan.scenario], model, expectations, lambda _: None)
    told = f"RACEGATE_PLAN_SEED={seed}: {plan.scenario} on {plan.service.name} with {plan.faults}"
    failed = [(failure.token, failure.violations, failure.blocked) for failure in result.failures]
    assert not failed, f"{told}: {failed}"
    assert result.verdict is not Verdict.FAIL, f"{told}: {result.reason}"
    found = [finding for finding in result.findings if finding.kind in BAD]
    assert not found, f"{told}: {found}"
    crashed = [tally for tally in result.invariants if tally.violated or tally.unknown.startswith("checker crashed")]
    assert not crashed, f"{told}: {crashed}"
    return sum(tally.injected for tally in result.faults)


def seeds(count):
    chosen = os.environ.get("RACEGATE_PLAN_SEED")
    return [int(chosen)] if chosen else range(count)


def test_no_random_plan_breaks_the_queue_or_the_pool(bench):
    struck = [judge(seed, bench) for seed in seeds(FEW)]
    assert sum(map(bool, struck)) * 2 > len(struck) or len(struck) == 1, "most plans must strike"


def complaint(bench, service, seed):
    """What one plan finds wrong with a service."""
    try:
        judge(seed, bench, service)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("specimen", ["worker_dies", "only_adapter_errors"])
def test_a_service_that_does_not_survive_a_fault_is_caught_and_the_seed_replays_it(bench, specimen):
    service = ServiceSpec(f"{SPECIMENS}/{specimen}.py:specimen")
    complaints = ((seed, complaint(bench, service, seed)) for seed in range(MANY))
    seed, said = next(found for found in complaints if "fault-contained" in found[1] or "terminal-once" in found[1])
    assert said.startswith(f"RACEGATE_PLAN_SEED={seed}: ")
    assert complaint(bench, service, seed) == said


@pytest.mark.soak
def test_no_random_plan_of_many_breaks_the_queue_or_the_pool(bench):
    struck = [judge(seed, bench) for seed in seeds(MANY)]
    assert sum(map(bool, struck)) * 2 > len(struck) or len(struck) == 1, "most plans must strike"
