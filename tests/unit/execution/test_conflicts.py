"""Events that are said to commute do: no checker judges a history otherwise when two neighbours change places."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.engine.strategies.random_walk import RandomWalk
from harness.execution.cell import CellRun
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import SCENARIOS, load

sys.path.append(str(Path(__file__).parent))  # importlib mode: the other module lies beside this one
from commuting import change_places

ONE_AT_A_TIME = {"close-twice", "delegate-init-failure", "session-open-failure", "prepared-asset-mismatch"}
"""Scenarios in which every event follows from the one before."""


pytestmark = pytest.mark.usefixtures("engine")


def histories(scenario, service, executions):
    shaped = "dynamic-shapes" in load(scenario).requires
    target = TargetSpec("numpy", "numpy", model="builtin:rows" if shaped else "builtin:permutation")
    model = resolve(target.model, load_adapter("numpy").suffixes)
    slots = 2 if service == "pool" else 1
    cell = Cell(scenario, target, ServiceSpec(service, slots=slots), model.digest, Budget())
    run = CellRun(cell, load(scenario), model, compute(target, model, 1, 16, shaped=4))
    strategy = RandomWalk(3)
    found = [run.laboratory.execute(strategy, number) for number in range(executions)]
    run.laboratory.close()
    return [execution.history for execution in found]


@pytest.mark.parametrize("scenario", sorted(each.id for each in SCENARIOS.values() if each.native == "atomic"))
def test_neighbours_that_commute_can_change_places(scenario):
    for service in ("queue", "pool", "unsafe-shared"):
        changed = sum(change_places(history) for history in histories(scenario, service, 8))
        assert changed or scenario in ONE_AT_A_TIME, "there is something to change places"
