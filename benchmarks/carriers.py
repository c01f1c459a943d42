"""Real threads against greenlets as carriers: the same cells, the same schedules, in turns, as a ratio.

python benchmarks/carriers.py [EXECUTIONS]
"""

from __future__ import annotations

import statistics
import sys
import time

from harness.engine.install import install
from harness.engine.strategies.portfolio import make_strategy
from harness.execution.cell import CellRun
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import load

ROUNDS = 5
SCENARIOS = ("submit-races-close", "many-clients", "close-twice")


def rate(run: CellRun, executions: int) -> tuple[float, str]:
    """Executions a second, without judging them, and the digest of the last history."""
    strategy = make_strategy("portfolio", 7)
    digest = ""
    began = time.perf_counter()
    for number in range(executions):
        execution = run.laboratory.execute(strategy, number)
        assert execution is not None, "a portfolio never ends"
        if number == executions - 1:
            digest = execution.history.digest()
    return executions / (time.perf_counter() - began), digest


def main() -> None:
    """Print the medians and the ratio for each scenario; fails if the histories differ."""
    executions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    install()
    target = TargetSpec("numpy", "numpy")
    model = resolve(target.model, load_adapter("numpy").suffixes)
    expectations = compute(target, model, 1, 16)
    for scenario in SCENARIOS:
        runs: dict[str, CellRun] = {}
        for carrier in ("threads", "greenlets"):
            cell = Cell(scenario, target, ServiceSpec("queue"), model.digest, Budget(carrier=carrier), seed=7)
            runs[carrier] = CellRun(cell, load(scenario), model, expectations)
        pairs = [(rate(runs["threads"], executions), rate(runs["greenlets"], executions)) for _ in range(ROUNDS)]
        assert len({digest for pair in pairs for _, digest in pair}) == 1, "both carriers make the same histories"
        threads, greenlets = (statistics.median(pair[side][0] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(pair[1][0] / pair[0][0] for pair in pairs)
        print(f"{scenario:20} threads {threads:6,.0f}/s  greenlets {greenlets:6,.0f}/s  ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
