"""What a person is shown of a failure, from real executions: each kind of going wrong has a golden file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden_files import matches_golden
from run_records import failing_run, first_cell

from harness.execution.cell import run_cell
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from reports.failure_text import failure_text
from reports.files import run_files
from reports.interleaving import WIDTH
from scenarios.catalogue import load

TESTS = Path(__file__).parents[2]
SCENARIOS = f"{TESTS}/golden/failures/scenarios.py"
SPECIMENS = TESTS / "specimens"
TARGET = TargetSpec("numpy", "numpy")


pytestmark = pytest.mark.usefixtures("engine")


def fail(service: str, scenario: str, *, slots: int = 1):
    """The failures that the default strategy finds: the same ones in every run."""
    model = resolve(TARGET.model, load_adapter(TARGET.adapter).suffixes)
    spec = ServiceSpec(service, capacity=2, slots=slots)
    cell = Cell(
        f"{SCENARIOS}:{scenario}", TARGET, spec, model.digest, Budget(executions=100, carrier="greenlets"), seed=1
    )
    result = run_cell(cell, load(cell.scenario), model, compute(TARGET, model, 1, 16), lambda _: None)
    assert result.verdict is Verdict.FAIL, result.reason
    return result.failures


def shown(failure) -> str:
    return re.sub(r"rg1\.\S+", "rg1.TOKEN", failure_text(failure)) + "\n"


def first(failures, invariant):
    return next(each for each in failures if any(found.invariant == invariant for found in each.violations))


@pytest.mark.parametrize(
    ("name", "service", "scenario", "invariant"),
    [
        ("mix-up", "unsafe-shared", "two_clients", "own-output"),
        ("deadlock", "no_deadlock/locks_in_two_orders", "submit_and_close", "no-deadlock"),
        ("lost-wakeup", "no_deadlock/close_does_not_notify", "submit_and_close", "no-deadlock"),
        ("livelock", "no_deadlock/tries_the_second_lock_for_ever", "two_clients", "no-deadlock"),
        ("leaked-thread", "no_deadlock/watcher_outlives_close", "submit_and_close", "no-deadlock"),
        ("dropped", "terminal_once/waiting_tasks_dropped_at_close", "close_with_work_waiting", "terminal-once"),
    ],
)
def test_the_output_of_a_failure(name, service, scenario, invariant):
    if "/" in service:
        service = f"{SPECIMENS / service}.py:specimen"
    slots = 2 if scenario == "two_clients" else 1
    failure = first(fail(service, scenario, slots=slots), invariant)
    text = shown(failure)
    assert max(map(len, text.splitlines())) <= WIDTH
    matches_golden(f"failure-{name}.txt", text)


def test_no_file_holds_a_line_of_source():
    (failure, *_) = fail("unsafe-shared", "two_clients", slots=2)
    assert any("submit(" in line for line in failure.lines.values())
    run = first_cell(failing_run(), failures=(failure,))
    for name, data in run_files(run).items():
        assert not [line for line in failure.lines.values() if line.encode() in data], name
    assert b"scenarios.py:" in run_files(run)["timeline.json"]
    assert b"scenarios.py:" in run_files(run)["report.html"]
