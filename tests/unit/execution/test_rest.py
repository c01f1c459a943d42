"""`script.rest()` returns when nobody else can move, and whatever was due has been done."""

from __future__ import annotations

from harness.engine.install import install
from harness.engine.strategies.random_walk import RandomWalk
from harness.execution.cell import CellRun
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.scenario import Scenario, Script
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec

EXECUTIONS = 40


def histories(body):
    install()
    target = TargetSpec("numpy", "numpy")
    model = resolve(target.model, load_adapter("numpy").suffixes)
    cell = Cell("rest", target, ServiceSpec("queue"), model.digest, Budget())
    scenario = Scenario(id="rest", body=body, exercises=("own-output",))
    run = CellRun(cell, scenario, model, compute(target, model, 1, 8))
    strategy = RandomWalk(5)
    found = [run.laboratory.execute(strategy, number) for number in range(EXECUTIONS)]
    run.laboratory.close()
    assert all(not execution.findings for execution in found)
    return [execution.history.events for execution in found]


def place(events, kind, task=None):
    return next(event.seq for event in events if event.kind == kind and event.task in {None, task})


def test_it_waits_for_actors_that_sleep_longer_than_it_does():
    def body(script: Script) -> None:
        service = script.open_service()
        task = script.task()

        def late() -> None:
            script.sleep(3.0)
            service.submit(task)

        script.actor("late", late)
        script.rest(0.1)
        script.expect(met=True, invariant="terminal-once", says="it came back")

    for events in histories(body):
        assert place(events, "submit-end", "t1") < place(events, "at-rest") < place(events, "expectation")
        assert place(events, "fetch-end", "t1") < place(events, "at-rest")


def test_a_call_that_is_held_does_not_keep_it():
    def body(script: Script) -> None:
        service = script.open_service()
        gate = script.hold("invoke")
        task = service.submit(script.task())
        script.rest()
        gate.open()
        task.result()

    for events in histories(body):
        assert place(events, "held", "t1") < place(events, "at-rest") < place(events, "unheld", "t1")
        assert not [event for event in events if event.kind == "gate-opened"]


def test_two_may_wait_for_it():
    def body(script: Script) -> None:
        script.open_service()
        script.actor("other", script.rest)
        script.rest()
        script.join()

    for events in histories(body):
        assert [event.kind for event in events].count("at-rest") in {1, 2}
        assert place(events, "at-rest") < place(events, "actor-end")
