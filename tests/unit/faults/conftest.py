"""One execution of a script on numpy, for what a fault makes of it."""

from __future__ import annotations

import os

import pytest

from harness.engine.install import install
from harness.engine.strategies.scripted import Scripted
from harness.execution.cell import CellRun
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Cell, ServiceSpec, TargetSpec

TARGET = TargetSpec("numpy", "numpy")


@pytest.fixture(scope="session")
def bench():
    """The model and what it must answer; cells pin the thread that runs them."""
    install()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    model = resolve(TARGET.model, load_adapter("numpy").suffixes)
    yield model, compute(TARGET, model, 1, 24)
    if cores is not None:
        os.sched_setaffinity(0, cores)


@pytest.fixture
def execute(bench):
    """Run a scenario once, in the default order."""
    model, expectations = bench

    def run(scenario, service="queue", slots=1, faults=()):
        spec = ServiceSpec(service, slots=slots)
        made = CellRun(Cell(scenario.id, TARGET, spec, model.digest, faults=faults), scenario, model, expectations)
        try:
            execution = made.laboratory.execute(Scripted(), 0)
        finally:
            made.laboratory.close()
        assert execution is not None
        assert execution.clean
        return execution

    return run
