"""What a cell's executions add up to: a verdict that was earned, or the reason why there is none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.execution.cell import run_cell
from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.oracle.reference import compute
from harness.scenario import scenario
from harness.suite.plan import Budget, Cell, ServiceSpec, TargetSpec
from harness.verdict import Verdict
from scenarios.catalogue import load

TARGET = TargetSpec("numpy", "numpy")


pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def judge(tmp_path):
    def run(
        service,
        name="many-clients",
        *,
        model="builtin:permutation",
        executions=30,
        script=None,
        progress=lambda _: None,
    ):
        if "\n" in service:
            (tmp_path / "service.py").write_text(service)
            service = f"{tmp_path}/service.py:factory"
        target = TargetSpec("numpy", "numpy", model=model)
        bytes_of = resolve(model, load_adapter("numpy").suffixes)
        cell = Cell(name, target, ServiceSpec(service), bytes_of.digest, Budget(executions=executions), seed=3)
        return run_cell(cell, script or load(name), bytes_of, compute(target, bytes_of, 1, 16), progress)

    return run


FICKLE = '''
import itertools
from harness.service.queue import SerialQueue

opened = itertools.count()

def factory(open_session, config):
    """The fifth service of the process drops its sessions; no replay of that schedule does it again."""
    service = SerialQueue(open_session, config)
    if next(opened) == 4:
        service.close = lambda **_: None
    return service

factory.capabilities = SerialQueue.capabilities
'''
REFUSES_TO_OPEN = """
def factory(open_session, config):
    raise LookupError("no licence")
"""
DIES = '''
from harness.service.queue import SerialQueue

class Dies(SerialQueue):
    """Its submit raises what no client expects; that is a refusal."""

    def submit(self, inputs):
        raise ArithmeticError

def factory(open_session, config):
    return Dies(open_session, config)
'''


def test_a_correct_service_passes_and_every_premise_occurred(judge):
    result = judge("queue")
    assert (result.verdict, result.reason) == (Verdict.PASS, "")
    checked = {tally.id: tally.checked for tally in result.invariants}
    assert all(checked[invariant] for invariant in result.exercises)
    assert result.executions == 30


def test_the_known_bad_service_fails_by_the_wrong_answer_first(judge):
    result = judge("unsafe-shared")
    assert result.verdict is Verdict.FAIL
    assert result.reason.startswith("own-output: ")
    assert {"own-output", "one-task-per-session", "owner-thread"} <= {
        violation.invariant for failure in result.failures for violation in failure.violations
    }


def test_whoever_waits_for_a_cell_hears_of_each_replay_too(judge):
    """Shrinking takes hundreds of executions: on a slow model or a busy machine that silence would count as a hang."""
    heard = []
    result = judge("unsafe-shared", progress=heard.append)
    assert sorted(set(heard)) == list(range(30))
    first = result.failures[0].execution
    assert heard.count(first) > 10
    assert heard.count(29) >= 1


def test_what_no_replay_confirms_is_unknown_and_named(judge):
    result = judge(FICKLE)
    assert result.verdict is Verdict.UNKNOWN
    assert "nondeterminism" in {finding.kind for finding in result.findings}
    assert "a replay differs" in result.reason
    assert not result.failures


def test_a_service_that_does_not_open_is_unknown_and_says_why(judge):
    result = judge(REFUSES_TO_OPEN)
    assert result.verdict is Verdict.UNKNOWN
    assert result.reason == "the service did not open: LookupError"


def test_a_service_that_takes_nothing_passes_nothing(judge):
    result = judge(DIES)
    assert result.verdict is Verdict.UNKNOWN
    assert "never occurred" in result.reason


@pytest.mark.parametrize(
    ("model", "says"), [("builtin:constant", "cannot tell these tasks apart"), ("builtin:stateful", "hidden state")]
)
def test_a_model_that_cannot_tell_gives_unknown(judge, model, says):
    result = judge("queue", "hidden-state", model=model)
    assert result.verdict is Verdict.UNKNOWN
    assert says in result.reason


def test_a_scenario_that_asks_for_more_than_there_is_does_not_pass(judge):
    @scenario(exercises=("own-output",), tasks=1)
    def greedy(script):
        service = script.open_service()
        for _ in range(99):
            service.submit(script.task()).result()

    result = judge("queue", "greedy", script=greedy, executions=3)
    assert result.verdict is Verdict.UNKNOWN
    assert "no task 9" in result.reason


def test_a_missing_capability_is_not_applicable_and_names_it(judge):
    result = judge(REFUSES_TO_OPEN, "running-cancel")
    assert result.verdict is Verdict.NOT_APPLICABLE
    assert result.reason == "the service does not declare running_cancel"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="threads cannot be pinned here")
@pytest.mark.parametrize(("kind", "cores"), [("threads", "1"), ("greenlets", "all")])
def test_threads_share_one_core_and_greenlets_stay_where_the_system_puts_them(kind, cores):
    """Two searches on greenlets, each on a core of its own, would not move when they find that it is the same one."""
    code = (
        "import os; from harness.execution.cell import _carriers; had = os.sched_getaffinity(0); "
        f"_carriers({kind!r}); has = os.sched_getaffinity(0); print('all' if has == had else len(has))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in {cores, "all" if len(os.sched_getaffinity(0)) == 1 else cores}
