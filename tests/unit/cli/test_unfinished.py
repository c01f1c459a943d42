"""What an interrupted run keeps, and what makes another run not the same."""

import msgspec
import pytest

from harness.cli.plan_facts import differences, plan_facts
from harness.cli.planning import Wishes, prepare
from harness.cli.unfinished import begin_run, unfinished_runs
from harness.suite.plan import Cell, ServiceSpec, TargetSpec
from harness.supervisor.cells import PlanError
from harness.supervisor.switch import StopSwitch
from harness.verdict import CellResult, Failure, Verdict

ASKED = {"targets": ("numpy",), "scenarios": ("many-clients",), "services": ("queue",), "seed": 3}
CELL = Cell("many-clients", TargetSpec("numpy", "numpy"), ServiceSpec("queue"), "0" * 64)


def facts(signer="", **changed):
    return plan_facts(prepare(Wishes(**(ASKED | changed)), StopSwitch()), signer)


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({}, ()),
        ({"seed": 4}, ("the seed",)),
        ({"capacity": 3}, ("the choice of services",)),
        ({"challenge": "x"}, ("the challenge",)),
        ({"hang_after_s": 9.0}, ("the time after which a worker has hung",)),
        ({"faults": ("slow-run",)}, ("the faults",)),
        ({"scenarios": ("queued-cancel",)}, ("the choice of scenarios",)),
        ({"executions": 7}, ("the budget", "the controls")),
        ({"model": "builtin:affine"}, ("target numpy", "the model of target numpy")),
        ({"signer": "a key"}, ("the key",)),
    ],
)
def test_what_differs_is_named(changed, names):
    found = differences(facts(**changed), facts())
    assert set(names) <= set(found)
    assert bool(found) == bool(names)


def test_a_changed_file_or_source_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.py"
    mine.write_text("make = 1\n")
    before = facts(services=("mine.py:make",))
    mine.write_text("make = 2\n")
    assert differences(facts(services=("mine.py:make",)), before) == ("the file mine.py",)
    assert differences({**before, "racegate's source": "other"}, before) == ("racegate's source",)
    assert str(tmp_path) not in repr(before)


def test_what_is_kept_is_recalled_by_the_next_process_and_not_by_this_one(tmp_path):
    result = CellResult("many-clients", "1" * 64, "0" * 64, Verdict.PASS, executions=4)
    run = begin_run(tmp_path, 3, {"the seed": "3"})
    run.keep(CELL, result)
    assert run.recall(CELL) is None
    assert unfinished_runs(tmp_path) == [], "it still runs"
    run.close(over=False)
    (again,) = unfinished_runs(tmp_path)
    assert (again.seed, again.cells) == (3, 1)
    assert again.recall(CELL) == result
    assert again.recall(msgspec.structs.replace(CELL, seed=1)) is None
    assert again.changed({"the seed": "4"}) == ("the seed",)
    again.close(over=True)
    assert list(tmp_path.iterdir()) == []


def test_no_source_text_is_kept(tmp_path):
    failure = Failure((), "token", "3" * 64, 1, (), lines={"a.py:1": "secret = 7"})
    run = begin_run(tmp_path, 3, {})
    run.keep(CELL, CellResult("many-clients", "1" * 64, "0" * 64, Verdict.FAIL, failures=(failure,)))
    (path,) = tmp_path.glob("*/cell-*.json")
    assert b"secret" not in path.read_bytes()
    assert b"token" in path.read_bytes()


def test_a_pair_that_rests_on_something_else_now_is_refused_by_name(tmp_path):
    run = begin_run(tmp_path, 3, {})
    assert run.begin("k", "target a, service b", {"the runtime": "1", "the device": "2"}, "then") == "then"
    run.keep(CELL, CellResult("many-clients", "1" * 64, "0" * 64, Verdict.PASS))
    run.close(over=False)
    (again,) = unfinished_runs(tmp_path)
    assert again.begin("k", "target a, service b", {"the runtime": "1", "the device": "2"}, "now") == "then"
    assert again.begin("other", "target a, service c", {"the runtime": "9"}, "now") == "now"
    with pytest.raises(PlanError, match="target a, service b: the runtime changed since"):
        again.begin("k", "target a, service b", {"the runtime": "3", "the device": "2"}, "now")


def test_a_pair_of_which_nothing_is_known_any_more_is_refused(tmp_path):
    run = begin_run(tmp_path, 3, {})
    run.begin("k", "target a, service b", {"the runtime": "1"}, "then")
    run.keep(CELL, CellResult("many-clients", "1" * 64, "0" * 64, Verdict.PASS))
    run.close(over=False)
    (begun,) = tmp_path.glob("*/begun-k.json")
    begun.write_bytes(begun.read_bytes()[:-5])
    (again,) = unfinished_runs(tmp_path)
    with pytest.raises(PlanError, match=r"begun-k\.json is damaged"):
        again.begin("k", "target a, service b", {"the runtime": "1"}, "now")


def test_a_run_that_found_nothing_leaves_nothing(tmp_path):
    begin_run(tmp_path, 3, {}).close(over=False)
    assert list(tmp_path.iterdir()) == []
