import os
import time
from pathlib import Path

import pytest

from harness.verdict import Verdict

DEATHS = {
    "segv": (Verdict.CRASHED, "SIGSEGV"),
    "abort": (Verdict.CRASHED, "SIGABRT"),
    "kill": (Verdict.KILLED, "SIGKILL"),
    "term": (Verdict.KILLED, "SIGTERM"),
    "exit": (Verdict.CRASHED, "status 7"),
    "shell": (Verdict.CRASHED, "SIGSEGV"),
    "grandchild": (Verdict.CRASHED, "SIGABRT"),
    "noise": (Verdict.CRASHED, "not the protocol"),
    "two-answers": (Verdict.CRASHED, "not the protocol"),
    "other-id": (Verdict.CRASHED, "not the protocol"),
    "wrong-shape": (Verdict.CRASHED, "something else than its result"),
    "half": (Verdict.CRASHED, "in the middle of a message"),
    "flood": (Verdict.CRASHED, "a line without an end"),
    "close": (Verdict.CRASHED, "closed its standard output"),
}


@pytest.mark.parametrize("how", DEATHS)
def test_a_death_is_a_result_and_the_other_cells_go_on(run, how):
    (finished,) = run("before", how, "after", "last")
    before, died, after, last = finished.record.cells
    verdict, says = DEATHS[how]
    assert died.verdict is verdict
    assert says in died.reason
    assert f"in execution 3 of {how}" in died.reason
    assert [cell.verdict for cell in (before, after, last)] == [Verdict.PASS] * 3
    assert finished.record.verdict is Verdict.FAIL


def test_silence_is_a_hang_and_the_process_is_gone(run, tmp_path):
    log = tmp_path / "pids"
    begun = time.monotonic()
    (finished,) = run("hang", "after", hang_after=0.6, log=log)
    assert time.monotonic() - begun < 10
    assert [cell.verdict for cell in finished.record.cells] == [Verdict.HUNG, Verdict.PASS]
    assert "said nothing for 0.6 s" in finished.record.cells[0].reason
    for pid in log.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_an_agent_that_is_slow_but_speaks_has_not_hung(run):
    (finished,) = run("slow", "halves", "chatter", hang_after=1.0)
    assert [cell.verdict for cell in finished.record.cells] == [Verdict.PASS] * 3


def test_a_worker_that_dies_twice_outside_of_a_cell_leaves_the_rest_not_run(run, tmp_path):
    (finished,) = run("one", "two", "three", die_at="model", die_role="cells", log=tmp_path / "pids")
    assert [cell.verdict for cell in finished.record.cells] == [Verdict.NOT_RUN] * 3
    assert "killed with SIGKILL" in finished.record.cells[2].reason
    assert "2 times in a row before it could run a cell" in finished.record.cells[2].reason
    assert finished.record.verdict is Verdict.UNKNOWN
    assert len((tmp_path / "pids").read_text().split()) == 3  # two attempts and the oracle's


@pytest.mark.parametrize("operation", ["hello", "device", "probe", "describe"])
def test_a_worker_that_dies_before_any_cell_is_recorded_with_every_cell(run, operation):
    (finished,) = run("one", "two", die_at=operation)
    assert [cell.verdict for cell in finished.record.cells] == [Verdict.KILLED] * 2
    assert "before any cell ran" in finished.record.cells[0].reason


def test_thirty_deaths_leave_no_process_file_or_descriptor(run, open_fds, tmp_path):
    log = tmp_path / "pids"
    run("one")
    before = open_fds()
    (finished,) = run(*["kill", "segv", "noise"] * 10, log=log)
    assert {cell.verdict for cell in finished.record.cells} == {Verdict.KILLED, Verdict.CRASHED}
    assert open_fds() == before
    pids = [int(pid) for pid in log.read_text().split()]
    assert len(pids) > 30
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_grandchild_does_not_outlive_its_worker(run):
    run("grandchild")
    deadline = time.monotonic() + 5
    while sleepers() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not sleepers()


def sleepers():
    return [path for path in Path("/proc").glob("[0-9]*") if b"time.sleep(6007)" in command_line(path)]


def command_line(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
