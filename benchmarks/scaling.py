"""How a controlled execution's cost grows with its decision points, and what memory does over a million executions.

The program is a queue of the standard library with a producer and a consumer: more items, more decision points. The
engine runs alone, on greenlets and with the default strategy; with --cell, the whole of a cell does (scenario
submit-races-close on the numpy reference: history, oracle, seam; judging is not in it), for a tenth as many executions.

    python benchmarks/scaling.py [--executions 1000000] [--cell]
"""

from __future__ import annotations

import argparse
import gc
import queue
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import closing

from harness.engine.carriers.greenlets import GreenletCarriers
from harness.engine.install import install, reset_names
from harness.engine.kernel import Kernel
from harness.engine.primitives.thread import start_controlled
from harness.engine.strategies.portfolio import make_strategy
from harness.execution.cell import CellRun
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.observe.resources import read_resources
from harness.observe.slope import slope_of
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import load

ITEMS = (4, 16, 64, 256, 1024)
ROUNDS = 5
COLLECT_EVERY = 64
"""As the harness has it."""
READINGS = 50
WARM_UP = 5


def producer_and_consumer(items: int, observed: Callable[[], object]) -> None:
    """Pass so many items through a queue of two; each that arrives is observed, as the harness observes each run."""
    box: queue.Queue[int] = queue.Queue(2)

    def consume() -> None:
        for _ in range(items):
            box.get()
            observed()

    consumer = threading.Thread(target=consume)
    consumer.start()
    for item in range(items):
        box.put(item)
    consumer.join()


class Engine:
    """Runs the program again and again, and nothing else."""

    def __init__(self, items: int) -> None:
        self._items = items
        self._carriers = GreenletCarriers()
        self._strategy = make_strategy("portfolio", 7)
        self._number = 0
        self.points = 0

    def run(self, executions: int) -> None:
        """So many executions more."""
        for _ in range(executions):
            self._strategy.begin(self._number)
            self._number += 1
            reset_names()
            kernel = Kernel(self._carriers, self._strategy, limit=1_000_000)
            main = threading.Thread(target=producer_and_consumer, args=(self._items, kernel.observed))
            start_controlled(kernel, main, name="main", role="actor")
            kernel.go()
            assert kernel.abort_rest(), "the program ends by itself"
            self.points += kernel.points
            self._strategy.end(kernel.points)
            kernel.forget()
            if self._number % COLLECT_EVERY == 0:
                gc.collect()


def costs() -> None:
    """Microseconds of processor time for each decision point, in rounds in which all lengths take turns."""
    engines = [Engine(items) for items in ITEMS]
    spent: list[list[float]] = [[] for _ in ITEMS]
    lengths = [0] * len(ITEMS)
    for _ in range(ROUNDS):
        for place, engine in enumerate(engines):
            executions = max(1, 4 * ITEMS[-1] // ITEMS[place])
            before, began = engine.points, time.process_time()
            engine.run(executions)
            points = engine.points - before
            spent[place].append((time.process_time() - began) / points * 1e6)
            lengths[place] = points // executions
    print("decision points in each, and microseconds of processor time for each of them")
    for points, each in zip(lengths, spent, strict=True):
        print(f"  {points:6,} {statistics.median(each):6.2f}")


def memory(what: str, run: Callable[[int], None], executions: int) -> None:
    """Resident memory and its slope, over so many executions."""
    readings: list[int] = []
    began = time.process_time()
    for _ in range(READINGS):
        run(max(1, executions // READINGS))
        resident = read_resources().resident
        assert resident is not None, "this system tells no memory"
        readings.append(resident)
    slope = slope_of(readings, warm_up=WARM_UP)
    in_a_million = [each * READINGS / executions * 1e6 / 2**20 for each in (slope.per_round, slope.low, slope.high)]
    print(f"memory over {executions:,} executions of {what}, {time.process_time() - began:.0f} s of processor time")
    print("  {:+.2f} MiB in a million, 99 % within {:+.2f} to {:+.2f}".format(*in_a_million))
    print(f"  at {readings[-1] / 2**20:.0f} MiB")


def whole_cell(executions: int) -> None:
    """Memory over executions with everything but the judging."""
    model = resolve("builtin:permutation", load_adapter("numpy").suffixes)
    target = TargetSpec("numpy", "numpy")
    cell = Cell("submit-races-close", target, ServiceSpec("queue"), model.digest, Budget(carrier="greenlets"), seed=7)
    run = CellRun(cell, load(cell.scenario), model, compute(target, model, 1, 16))
    strategy = make_strategy("portfolio", 7)
    number = iter(range(executions + READINGS))

    def more(count: int) -> None:
        for _ in range(count):
            assert run.laboratory.execute(strategy, next(number)) is not None, "a portfolio never ends"

    with closing(run.laboratory):
        memory("a whole cell", more, executions)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--cell", action="store_true", help="the memory of a whole cell, not of the engine alone")
    options = parser.parse_args()
    install()
    if options.cell:
        whole_cell(max(READINGS, options.executions // 10))
        return
    gc.collect()
    gc.freeze()
    gc.disable()
    costs()
    memory("a queue of the standard library", Engine(4).run, options.executions)


if __name__ == "__main__":
    main()
