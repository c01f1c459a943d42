import contextlib
import os
import tempfile
import threading
import time
from pathlib import Path

import pytest

from harness.cli.unfinished import begin_run
from harness.verdict import Verdict

DEATHS = {
    "segv": (Verdict.CRASHED, "SIGSEGV"),
    "abort": (Verdict.CRASHED, "SIGABRT"),
    "kill": (Verdict.KILLED, "SIGKILL"),
    "term": (Verdict.KILLED, "SIGTERM"),
    "bus": (Verdict.CRASHED, "SIGBUS"),
    "exit": (Verdict.CRASHED, "status 7"),
    "exit-0": (Verdict.CRASHED, "status 0"),
    "exit-3": (Verdict.CRASHED, "status 3"),
    "uncaught": (Verdict.CRASHED, "status 1"),
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


KINDS = ("segv", "abort", "bus", "kill", "exit-0", "exit-3", "uncaught", "hang", "close", "noise")


def children():
    """The processes that this one has, ended or not."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(path.parent.name)
    return found


def many_deaths(run, open_fds, tmp_path, monkeypatch, times):
    """Every kind so many times: no result is lost, and no process, descriptor, thread or temporary file is left."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    run("one")  # what is made once is made
    before = open_fds(), children(), threading.active_count()
    journal = begin_run(tmp_path / "out", 7, {})
    log = tmp_path / "pids"
    scenarios = [f"{number}:{kind}" for number in range(times) for kind in KINDS]
    (finished,) = run(*scenarios, log=log, hang_after=1.0, workers=2, journal=journal)
    kept = journal.cells
    journal.close(over=True)
    assert (open_fds(), children(), threading.active_count()) == before
    assert not list(temporary.iterdir())
    assert not list((tmp_path / "out").iterdir())
    found = [(cell.scenario, cell.verdict) for cell in finished.record.cells]
    expected = {**{kind: verdict for kind, (verdict, _) in DEATHS.items()}, "hang": Verdict.HUNG}
    assert found == [(name, expected[name.partition(":")[2]]) for name in scenarios]
    assert kept == len(scenarios)
    pids = log.read_text().split()
    assert len(pids) >= len(scenarios)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_thirty_deaths_leave_nothing(run, open_fds, tmp_path, monkeypatch):
    many_deaths(run, open_fds, tmp_path, monkeypatch, 3)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_thousand_deaths_leave_nothing(run, open_fds, tmp_path, monkeypatch):
    many_deaths(run, open_fds, tmp_path, monkeypatch, 100)


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
