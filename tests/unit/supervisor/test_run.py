import threading
import time

import pytest

from harness.suite.plan import Budget, ControlSpec, ServiceSpec
from harness.supervisor.cells import PlanError
from harness.supervisor.process import Worker, WorkerStartError
from harness.supervisor.switch import StopSwitch
from harness.verdict import Verdict


def test_one_record_for_each_target_and_service(run):
    found = run("one", "two", services=("queue", "pool"), two_targets=True)
    assert sorted((item.record.target, item.record.service.name) for item in found) == [
        ("fake", "pool"),
        ("fake", "queue"),
        ("other", "pool"),
        ("other", "queue"),
    ]
    for item in found:
        assert item.record.verdict is Verdict.PASS
        assert item.record.runtime.name == "fake"
        assert item.record.device.device_class == "fake-cpu"
    assert len({item.record.run_id for item in found}) == 4


def test_the_oracle_and_the_cells_have_processes_of_their_own(run, tmp_path):
    run("one", log=tmp_path / "pids")
    assert len((tmp_path / "pids").read_text().split()) == 2


def test_services_of_a_target_share_one_oracle(run, tmp_path):
    run("one", services=("queue", "pool"), log=tmp_path / "pids")
    assert len((tmp_path / "pids").read_text().split()) == 3


def test_a_failing_cell_comes_with_a_file_for_its_replay(run):
    (item,) = run("one", "fails")
    (file,) = item.files
    assert file.cell.scenario == "fails"
    assert file.tokens == ("rg1.000000000000.00000000.0",)
    assert file.cell.target.command == ()
    assert file.cell.target.python == ""


def test_a_model_that_does_not_load_leaves_every_cell_unknown(run):
    (item,) = run("one", "two", bad_model=1)
    assert [cell.verdict for cell in item.record.cells] == [Verdict.UNKNOWN] * 2
    assert "does not load this model: ModelLoadError: not a model" in item.record.cells[0].reason


@pytest.mark.parametrize(("how", "verdict"), [("segv", Verdict.CRASHED), ("hang", Verdict.HUNG)])
def test_an_oracle_that_dies_is_the_result_of_every_cell(run, how, verdict):
    (item,) = run("one", "two", oracle=how, hang_after=1.0)
    assert [cell.verdict for cell in item.record.cells] == [verdict] * 2
    assert item.record.verdict is Verdict.FAIL


def test_a_missing_runtime_is_unknown_with_its_install_line(run):
    (item,) = run("one", missing=1)
    assert item.record.cells[0].verdict is Verdict.UNKNOWN
    assert "pip install fake" in item.record.cells[0].reason


@pytest.mark.parametrize("missing", ["", "1"])
def test_a_scenario_that_does_not_exist_is_a_usage_error(run, missing):
    with pytest.raises(PlanError, match="there is no 'no-such'"):
        run("one", "no-such", missing=missing)


def test_a_command_that_does_not_exist_names_no_folder():
    with pytest.raises(WorkerStartError, match="'no-such-agent' does not start") as caught:
        Worker(["/some/folder/no-such-agent"])
    assert "/some" not in str(caught.value)


def control(expect, scenario="fails", service="unsafe-shared"):
    return ControlSpec(scenario, ServiceSpec(service), "builtin:fake", expect, "own-output", (), Budget(executions=4))


def test_a_control_that_surprises_leaves_the_run_unknown(run):
    (item,) = run("one", controls=(control(Verdict.FAIL),))
    assert item.record.controls[0].as_expected
    assert item.record.verdict is Verdict.PASS
    (item,) = run("one", controls=(control(Verdict.FAIL, scenario="one"),))
    assert item.record.verdict is Verdict.UNKNOWN


def test_a_control_runs_once_for_all_services_and_targets_of_a_runtime(run, tmp_path):
    found = run(
        "one", services=("queue", "pool"), two_targets=True, controls=(control(Verdict.FAIL),), log=tmp_path / "pids"
    )
    assert all(item.record.controls[0].as_expected for item in found)
    assert len((tmp_path / "pids").read_text().split()) == 4 + 1 + 2  # a worker a pair, one oracle, the control's two


def test_the_switch_ends_a_run_at_once_and_what_is_left_is_not_run(run):
    switch = StopSwitch()
    threading.Timer(1.0, switch.pull).start()
    begun = time.monotonic()
    (item,) = run("one", "hang", "after", hang_after=60.0, switch=switch)
    assert time.monotonic() - begun < 8
    assert [cell.verdict for cell in item.record.cells] == [Verdict.PASS, Verdict.NOT_RUN, Verdict.NOT_RUN]
    assert item.record.interrupted
    assert item.record.verdict is Verdict.UNKNOWN


def test_the_watcher_hears_of_executions_and_results(run, watched):
    run("one", watcher=watched)
    assert ("execution", "fake", "queue", "one", 3) in watched.heard
    assert ("finished", "fake", "queue", "one") in watched.heard


def test_last_words_are_bounded_printable_and_in_no_record(run, watched):
    (item,) = run("last-words", watcher=watched)
    (words,) = [heard[2] for heard in watched.heard if heard[0] == "died"]
    assert len(words) <= 41
    assert words[-1] == "?[31msecret of the native library"
    assert "secret" not in repr(item)
