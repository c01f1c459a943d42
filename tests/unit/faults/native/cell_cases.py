"""Cells on real runtimes with a fault inside native code, and what one execution of them leaves."""

from collections import Counter
from functools import cache

from native_cases import skip_unless_there

from harness.engine.install import install
from harness.engine.strategies.random_walk import RandomWalk
from harness.engine.strategies.scripted import Scripted
from harness.execution.cell import CellRun, run_cell
from harness.execution.replay import replay
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec, TargetSpec

TASKS = 12


@cache
def oracle(runtime):
    """The model of a runtime's target and what it must answer."""
    target = TargetSpec(runtime, runtime)
    model = resolve(target.model, load_adapter(runtime).suffixes)
    return model, compute(target, model, 1, TASKS)


class NativeBench:
    """Runs cells of this process on one runtime."""

    def __init__(self, runtime):
        if runtime != "numpy":
            skip_unless_there(runtime)
        install()
        self.target = TargetSpec(runtime, runtime)

    def cell(self, scenario, *faults, service="queue", slots=1, executions=10, strategy="portfolio"):
        model, _ = oracle(self.target.adapter)
        specs = tuple(fault if isinstance(fault, FaultSpec) else FaultSpec(fault) for fault in faults)
        budget = Budget(executions, strategy=strategy)
        return Cell(scenario.id, self.target, ServiceSpec(service, slots=slots), model.digest, budget, 7, specs)

    def run(self, scenario, *faults, **options):
        """The result of a cell."""
        cell = self.cell(scenario, *faults, **options)
        return run_cell(cell, scenario, *oracle(self.target.adapter), lambda _: None)

    def once(self, scenario, *faults, strategy=None, **options):
        """One execution, in the default order."""
        cell = self.cell(scenario, *faults, **options)
        made = CellRun(cell, scenario, *oracle(self.target.adapter))
        assert not made.not_applicable
        try:
            execution = made.laboratory.execute(strategy or Scripted(), 0)
        finally:
            made.laboratory.close()
        assert execution is not None
        assert execution.clean
        return execution

    def replayed(self, scenario, times):
        """One execution of the pool of two under random choices, and the report of its replays."""
        cell = self.cell(scenario, service="pool", slots=2)
        made = CellRun(cell, scenario, *oracle(self.target.adapter))
        execution = made.laboratory.execute(RandomWalk(5), 0)
        made.laboratory.close()
        schedule = made.schedule(execution)
        return execution, replay(cell, scenario, *oracle(self.target.adapter), schedule, times, lambda _: None)


def of(execution, kind, **attrs):
    """The events of one kind, with these attributes."""
    return [
        event
        for event in execution.history.events
        if event.kind == kind and all(event.attrs.get(name) == value for name, value in attrs.items())
    ]


def kinds(execution):
    """How often each kind of event was recorded."""
    return Counter(event.kind for event in execution.history.events)


def confirmed(result):
    """The invariants that a replay confirmed to be broken."""
    return {violation.invariant for failure in result.failures for violation in failure.violations}
