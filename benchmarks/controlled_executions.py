"""How many controlled executions a second, on one core, with history, invariants and the oracle's comparison on.

The queue with two submitters, a canceller and a closer (scenario submit-races-close) on the numpy reference, beside
starting and joining five bare threads, in one run and in turns: the ratio is what counts, machines differ.

    python benchmarks/controlled_executions.py [EXECUTIONS]
"""

from __future__ import annotations

import statistics
import sys
import threading
import time

from adapters.base import ModelFile
from harness.engine.install import install
from harness.execution.cell import run_cell
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import load

ROUNDS = 5
STRATEGIES = ("random", "pos", "pct", "portfolio")


def controlled(model: ModelFile, strategy: str, executions: int) -> float:
    """Executions a second of the cell."""
    target = TargetSpec("numpy", "numpy")
    expectations = compute(target, model, 1, 16)
    budget = Budget(executions=executions, strategy=strategy)
    cell = Cell("submit-races-close", target, ServiceSpec("queue"), model.digest, budget, seed=7)
    began = time.perf_counter()
    result = run_cell(cell, load(cell.scenario), model, expectations, lambda _: None)
    assert result.verdict == "PASS", result.reason
    return result.executions / (time.perf_counter() - began)


def bare(executions: int) -> float:
    """The same number of threads started and joined a second, doing nothing: five each."""
    began = time.perf_counter()
    for _ in range(executions):
        threads = [threading.Thread(target=int) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return executions / (time.perf_counter() - began)


def main() -> None:
    """Print the medians and the ratio to bare threads."""
    executions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    install()
    model = resolve("builtin:permutation", load_adapter("numpy").suffixes)
    for strategy in STRATEGIES:
        pairs = [(controlled(model, strategy, executions), bare(executions)) for _ in range(ROUNDS)]
        rate = statistics.median(pair[0] for pair in pairs)
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        print(f"{strategy:10} {rate:7,.0f} executions/s, {ratio:.2f} of starting and joining five bare threads")


if __name__ == "__main__":
    main()
