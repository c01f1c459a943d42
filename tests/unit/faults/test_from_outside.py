"""Faults from a suite or the command line: how they are written, what they do to a cell, and what a token keeps."""

from __future__ import annotations

import pytest

from harness.cli.output import UsageError
from harness.cli.planning import Wishes, prepare
from harness.execution.cell import run_cell
from harness.execution.replay import replay
from harness.scenario import scenario
from harness.schedule import parse_token
from harness.suite.fault_text import parse_fault
from harness.suite.file import SuiteError, parse_suite
from harness.suite.plan import Budget, Cell, FaultSpec, ServiceSpec, TargetSpec
from harness.supervisor.switch import StopSwitch
from harness.verdict import Verdict
from scenarios.catalogue import load

TARGET = TargetSpec("numpy", "numpy")


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("run-failure", FaultSpec("run-failure")),
        ("run-failure@bind", FaultSpec("run-failure", "bind")),
        ("slow-run:nth=3:session=s2:task=t4", FaultSpec("slow-run", nth=3, session="s2", task="t4")),
        ("slow-run:always:p=0.25:seed=9", FaultSpec("slow-run", persistent=True, probability=0.25, seed=9)),
    ],
)
def test_a_fault_reads_as_written(text, spec):
    assert parse_fault(text) == spec


@pytest.mark.parametrize("text", ["", "@bind", "run-failure@", "x:nth=a", "x:often", "x:how=1", "x:"])
def test_what_is_no_fault_is_one_line_with_the_form(text):
    with pytest.raises(SuiteError, match=r"write NAME\[@POINT\]") as caught:
        parse_fault(text)
    assert "\n" not in str(caught.value)


def prepared(*faults, suite=None):
    wishes = Wishes(suite=suite, targets=("numpy",), scenarios=("many-clients",), faults=faults, seed=7)
    return prepare(wishes, StopSwitch()).plan.faults


def test_the_command_line_adds_to_the_suite_and_a_draw_takes_the_run_s_seed(tmp_path):
    suite = tmp_path / "suite.toml"
    suite.write_text('schema = "suite/1"\nid = "a"\nversion = "1"\n[[fault]]\nname = "slow-run"\nprobability = 0.5\n')
    first, second = prepared("run-failure@bind:seed=3", suite=suite)
    assert first == FaultSpec("slow-run", probability=0.5, seed=7)
    assert second == FaultSpec("run-failure", "bind", seed=0)


@pytest.mark.parametrize("text", ["run-faliure", "nan-output@bind", "run-failure:nth=0"])
def test_a_fault_that_can_strike_nothing_is_the_user_s_to_mend(text):
    with pytest.raises(UsageError):
        prepared(text)


def test_an_unknown_key_of_a_fault_is_named():
    text = 'schema = "suite/1"\nid = "a"\nversion = "1"\n[[fault]]\nname = "slow-run"\nwhen = 3\n'
    with pytest.raises(SuiteError, match=r"fault\[0\]\.when: no such key"):
        parse_suite(text, "suite.toml")


def test_a_cell_with_faults_is_another_cell_under_another_name():
    plain = Cell("many-clients", TARGET, ServiceSpec("queue"), "0" * 64)
    faulty = Cell("many-clients", TARGET, ServiceSpec("queue"), "0" * 64, faults=(FaultSpec("slow-run"),))
    third = Cell("many-clients", TARGET, ServiceSpec("queue"), "0" * 64, faults=(FaultSpec("slow-run", nth=2),))
    assert len({plain.digest, faulty.digest, third.digest}) == 3
    assert plain.as_recorded("many-clients", "ab") == ("many-clients", "ab")
    name, digest = faulty.as_recorded("many-clients", "ab")
    assert name == "many-clients+slow-run"
    assert digest not in {"ab", third.as_recorded("many-clients", "ab")[1]}


@pytest.fixture
def run(bench):
    model, expectations = bench

    def make(reference, *faults, service="queue", slots=1, executions=20):
        cell = Cell(
            reference if isinstance(reference, str) else reference.id,
            TARGET,
            ServiceSpec(service, slots=slots),
            model.digest,
            Budget(executions),
            3,
            faults,
        )
        loaded = load(reference) if isinstance(reference, str) else reference
        return cell, loaded, run_cell(cell, loaded, model, expectations, lambda _: None)

    return make


def test_a_fault_from_outside_strikes_every_execution(run):
    _, _, result = run("many-clients", FaultSpec("worker-death"), service="pool", slots=2)
    assert result.verdict is Verdict.PASS, result.reason
    assert result.scenario == "many-clients+worker-death"
    assert [(tally.kind, tally.injected) for tally in result.faults] == [("worker-death", 20)]


def test_a_fault_that_never_struck_leaves_the_cell_unknown(run):
    _, _, result = run("many-clients", FaultSpec("run-failure", nth=99))
    assert (result.verdict, result.reason) == (Verdict.UNKNOWN, "the fault run-failure never struck")


def test_what_the_script_expects_is_not_asked_once_such_a_fault_has_struck(run):
    @scenario(exercises=("terminal-once",), tasks=2)
    def both_succeed(script):
        service = script.open_service()
        outcomes = [service.submit(script.task()).result().kind for _ in range(2)]
        script.expect(outcomes == ["SUCCEEDED"] * 2, "terminal-once", "both succeed")

    assert run(both_succeed, FaultSpec("run-failure", nth=2))[2].verdict is Verdict.PASS

    @scenario(exercises=("terminal-once",), tasks=1)
    def armed_here(script):
        script.arm("run-failure")
        service = script.open_service()
        script.expect(service.submit(script.task()).result().kind == "SUCCEEDED", "terminal-once", "it succeeds")

    assert run(armed_here)[2].verdict is Verdict.FAIL


def test_a_token_arms_the_faults_again(run, bench):
    fault = FaultSpec("slow-run", persistent=True, probability=0.5, seed=5)
    cell, loaded, result = run("many-clients", fault, service="unsafe-shared", slots=2, executions=80)
    (failure, *_) = result.failures
    model, expectations = bench
    report = replay(cell, loaded, model, expectations, parse_token(failure.token), 5, lambda _: None)
    assert set(report.digests) == {failure.history_digest}
    assert not report.divergence
