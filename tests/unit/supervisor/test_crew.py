"""Several workers on one pair: what they find does not depend on their number, and a lost share never passes."""

from __future__ import annotations

import pytest

from harness.supervisor.cells import PlanError
from harness.supervisor.crew import divide, together
from harness.verdict import CellResult, Verdict


@pytest.mark.parametrize(
    ("cells", "workers", "shares"),
    [
        (3, 1, [1, 1, 1]),
        (1, 4, [4]),
        (2, 4, [2, 2]),
        (3, 4, [2, 1, 1]),
        (4, 4, [1, 1, 1, 1]),
        (5, 2, [1, 1, 1, 1, 2]),
        (0, 2, []),
    ],
)
def test_cells_go_side_by_side_and_what_is_left_is_split(cells, workers, shares):
    assert divide(cells, workers) == shares


def test_each_worker_explores_one_share_of_the_only_cell(run, watched, tmp_path):
    (item,) = run("one", workers=3, watcher=watched, log=tmp_path / "pids")
    (cell,) = item.record.cells
    assert (cell.verdict, cell.executions, cell.exploration.exhausted) == (Verdict.PASS, 12, True)
    assert len((tmp_path / "pids").read_text().split()) == 3 + 1  # and the oracle's
    assert [heard for heard in watched.heard if heard[0] == "finished"] == [("finished", "fake", "queue", "one")]


def test_results_come_in_the_order_of_the_cells(run):
    (item,) = run("slow", "one", "fails", "two", workers=2)
    assert [cell.scenario for cell in item.record.cells] == ["slow", "one", "fails", "two"]
    assert [cell.verdict for cell in item.record.cells] == [Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.PASS]


def test_one_share_that_was_cut_short_leaves_the_space_unexhausted(run):
    (item,) = run("cut", workers=2)
    assert item.record.cells[0].exploration.exhausted is False


@pytest.mark.parametrize(
    ("how", "verdict"), [("segv", Verdict.CRASHED), ("kill", Verdict.KILLED), ("hang", Verdict.HUNG)]
)
def test_a_death_in_one_share_is_the_result_of_the_cell(run, how, verdict):
    (item,) = run(how, workers=2, hang_after=1.5)
    (cell,) = item.record.cells
    assert cell.verdict is verdict
    assert f"in execution 3 of {how}" in cell.reason
    assert cell.executions == 4
    assert cell.exploration.exhausted is False


def test_what_one_share_refuses_leaves_the_cell_undecided_unless_another_found_a_violation():
    lost = CellResult("one", "2" * 64, "3" * 64, Verdict.UNKNOWN, "a defect")
    assert together([lost, lost]).verdict is Verdict.UNKNOWN


def test_more_workers_than_targets_are_dealt_out(run, tmp_path):
    found = run("one", two_targets=True, workers=4, log=tmp_path / "pids")
    assert [item.record.cells[0].executions for item in found] == [8, 8]
    assert len((tmp_path / "pids").read_text().split()) == 4 + 1


def test_a_request_that_nobody_can_run_ends_the_other_workers_too(run):
    with pytest.raises(PlanError, match="no such option"):
        run("refuse", "slow", "hang", workers=2, hang_after=30.0)
