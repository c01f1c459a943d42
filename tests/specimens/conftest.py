import ast
import os
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from harness.engine.install import install
from harness.engine.strategies.random_walk import RandomWalk
from harness.execution.cell import CellRun, run_cell
from harness.models.reference import next_version, resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import load

ROOT = Path(__file__).parent
TARGET = TargetSpec(name="numpy", adapter="numpy", model="builtin:permutation")
SEED = 7
DECLARED = {"INVARIANT", "SCENARIOS", "SLOTS", "CAPACITY", "MODEL"}


@dataclass(frozen=True)
class Specimen:
    """One file: a wrong service, its twin, and what it declares, read without importing it."""

    path: Path
    docstring: str
    declared: dict = field(hash=False)
    twin: str

    @property
    def name(self):
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def invariant(self):
        return self.declared["INVARIANT"]

    @property
    def carrier(self):
        """Greenlets where they can: they take half the time, and the same schedule gives the same history."""
        return "threads" if "asyncio" in self.path.read_text() else "greenlets"

    @property
    def scenarios(self):
        return self.declared["SCENARIOS"]


def read(path):
    tree = ast.parse(path.read_text())
    assigned = {
        ast.unparse(node.targets[0]).strip("()"): node.value for node in tree.body if isinstance(node, ast.Assign)
    }
    declared = {name: ast.literal_eval(value) for name, value in assigned.items() if name in DECLARED}
    twin = ast.unparse(assigned["specimen, twin"].elts[1])
    return Specimen(path, ast.get_docstring(tree) or "", declared, twin)


HONEST = {
    "BoundedQueue", "CancellingQueue", "ContractQueue", "GatedQueue", "JournalledQueue", "ObservableQueue",
    "ResidentQueue", "ShapedQueue", "StagedQueue",
}  # fmt: skip
"""Parts that many files have for a twin as they are."""


SPECIMENS = tuple(read(path) for path in sorted(ROOT.glob("*/*.py")))


def different_twins():
    """Leave out what many files have for a twin: the honest part as it is, in the same configuration."""
    found = {}
    for specimen in SPECIMENS:
        shared = specimen.twin in HONEST
        key = (specimen.twin, *map(specimen.declared.get, ("SLOTS", "CAPACITY", "MODEL"))) if shared else specimen.path
        found.setdefault(key, specimen)
    return tuple(found.values())


def pytest_generate_tests(metafunc):
    for name, chosen in (("specimen", SPECIMENS), ("twin_of", different_twins())):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, chosen, ids=lambda specimen: specimen.name)


@pytest.fixture(scope="session")
def specimens():
    return SPECIMENS


class Bench:
    """Runs cells of this process on the numpy target."""

    def __init__(self):
        install()
        self.model = resolve(TARGET.model, load_adapter(TARGET.adapter).suffixes)
        self.next_model = resolve(next_version(TARGET.model), load_adapter(TARGET.adapter).suffixes)
        self.expectations = compute(TARGET, self.model, 1, 16, next_model=self.next_model)
        self.others = {}

    def other(self, reference):
        """What a cell on another model needs."""
        if reference not in self.others:
            target = msgspec.structs.replace(TARGET, model=reference)
            model = resolve(reference, load_adapter(TARGET.adapter).suffixes)
            self.others[reference] = model, compute(target, model, 1, 16, shaped=4)
        return self.others[reference]

    def cell(self, specimen, factory, scenario, executions):
        service = ServiceSpec(
            name=f"{specimen.path}:{factory}",
            capacity=specimen.declared.get("CAPACITY", 2),
            slots=specimen.declared.get("SLOTS", 1),
        )
        target = msgspec.structs.replace(TARGET, model=specimen.declared.get("MODEL", TARGET.model))
        model = self.model if target == TARGET else self.other(target.model)[0]
        budget = Budget(executions=executions, carrier=specimen.carrier)
        return Cell(scenario, target, service, model.digest, budget, SEED)

    def materials(self, cell):
        """What there is to run the cell with: model, expectations, and the next version of the model."""
        if cell.target == TARGET:
            return self.model, self.expectations, self.next_model
        return (*self.other(cell.target.model), None)

    def run(self, cell):
        model, expectations, next_model = self.materials(cell)
        return run_cell(cell, load(cell.scenario), model, expectations, lambda _: None, next_model)

    def prepared(self, cell):
        """The cell, ready for one execution after the other; its laboratory must be closed."""
        return CellRun(cell, load(cell.scenario), *self.materials(cell))

    def histories(self, specimen, executions):
        """What random executions of the specimen left."""
        run = self.prepared(self.cell(specimen, "specimen", specimen.scenarios[0], executions))
        strategy = RandomWalk(SEED)
        found = [run.laboratory.execute(strategy, number) for number in range(executions)]
        run.laboratory.close()
        return [execution.history for execution in found]


@pytest.fixture(scope="session")
def bench():
    """Undoes at the end what cells do to a process: the thread is pinned to a core."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    made = Bench()
    yield made
    if cores is not None:
        os.sched_setaffinity(0, cores)
