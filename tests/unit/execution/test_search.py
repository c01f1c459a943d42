"""The exhaustive search on the real service: leaving equal states out leaves no history out, up to what commutes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SEARCH = """
import json, sys
from harness.engine.install import install
install()
from harness.engine.instrument.loader import Instrumenter
Instrumenter(["harness.service"]).activate()
from harness.engine.causality import Causality
from harness.engine.strategies.exhaustive import Exhaustive
from harness.execution.cell import CellRun
from harness.execution.conflicts import accesses
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from scenarios.catalogue import load

scenario, granularity, bound = sys.argv[1], sys.argv[2], int(sys.argv[3])
target = TargetSpec("numpy", "numpy")
model = resolve(target.model, load_adapter("numpy").suffixes)
cell = Cell(scenario, target, ServiceSpec("queue"), model.digest, Budget(granularity=granularity))
run = CellRun(cell, load(scenario), model, compute(target, model, 1, 16))
assert run.factory.instrumented


class Thread:
    def __init__(self, name, number):
        self.name, self.number = name, number
        self.past = hash(name)
        self.step = 0
        self.clock = [0] * 40


def trace(history):
    "The history up to the order of events that commute."
    past, threads, tells = Causality(lambda step: None), {}, False
    for event in history.events:
        thread = threads.setdefault(event.thread, Thread(event.thread, len(threads)))
        attrs = tuple(sorted((name, str(value)) for name, value in event.attrs.items() if name != "call"))
        what = (event.kind, event.task, event.session, event.slot, attrs)
        thread.past = hash((thread.past, what))
        task = past if event.kind in ("dequeue", "lease-begin") else event.task
        for thing, group in accesses(event.kind, task, event.session, event.slot, event.attrs, tells=tells):
            past.access(thread, past, thing, group)
        tells |= event.kind == "dequeue"
    return sum(hash((thread.name, thread.past)) for thread in threads.values())


found = {}
for reduce in (False, True):
    run.laboratory.releases_decide = sys.argv[4] == "releases"
    strategy, histories, executions = Exhaustive(bound, reduce=reduce), set(), 0
    while (execution := run.laboratory.execute(strategy, executions)) is not None:
        executions += 1
        assert not execution.findings, execution.findings
        if not execution.pruned:
            histories.add(trace(execution.history))
    assert strategy.exhausted
    found[reduce] = [sorted(histories), executions]
print(json.dumps({"same": found[False][0] == found[True][0], "full": found[False][1], "reduced": found[True][1]}))
"""


@pytest.mark.parametrize("releases", ["acquires", "releases"])
@pytest.mark.parametrize(
    ("scenario", "granularity", "bound"),
    [
        ("close-twice", "sync", 2),
        ("close-twice", "statement", 1),
        ("submit-after-close", "sync", 2),
        ("cancel-races-completion", "sync", 0),
        ("close-during-run", "sync", 1),
    ],
)
def test_equal_states_are_left_out_and_no_history_is(scenario, granularity, bound, releases):
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, scenario, granularity, str(bound), releases],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["same"]
    assert answer["reduced"] <= answer["full"]
