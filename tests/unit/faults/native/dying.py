"""Run by `test_native_deaths.py` in a process of its own: two tasks, and a fault that ends it in the second."""

import sys

from cell_cases import NativeBench

from harness.scenario import scenario
from harness.suite.plan import FaultSpec


@scenario(exercises=("terminal-once",), tasks=2)
def two_tasks(script):
    service = script.open_service()
    for _ in range(2):
        sys.stdout.write(f"{service.submit(script.task()).result().kind}\n")
        sys.stdout.flush()
    service.close()


if __name__ == "__main__":
    NativeBench(sys.argv[1]).once(two_tasks, FaultSpec(sys.argv[2], nth=2))
