"""`racegate explore`: how far a search went is said as it is."""

from __future__ import annotations

import re

import pytest

FLAG = '''
import threading


class Flagged:
    """Two closers both see the flag down: a race between two statements. Who comes later waits for who came first."""

    def __init__(self, session):
        self._session = session
        self._closed = False
        self._done = threading.Event()

    def submit(self, inputs):
        raise RuntimeError("takes nothing")

    def close(self):
        if not self._closed:
            self._closed = True
            self._session.close()
            self._done.set()
        self._done.wait()


def factory(open_session, config):
    return Flagged(open_session())
'''


@pytest.fixture
def flagged(tmp_path):
    (tmp_path / "flagged.py").write_text(FLAG)
    return "flagged.py:factory"


def explore(racegate, tmp_path, service, *args):
    return racegate("explore", service, "--seed", 1, "--out", tmp_path / "out", *args)


def test_a_space_within_a_bound_is_exhausted_and_said_to_be(racegate, tmp_path):
    searched = ("--scenario", "close-twice", "--strategy", "exhaustive", "--bound", 1)
    for granularity in ("sync", "statement"):
        done = explore(racegate, tmp_path, "queue", *searched, "--granularity", granularity)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "every schedule with at most 1 preemption" in done.stdout
        assert "NOT every" not in done.stdout


def test_a_search_that_is_cut_short_says_so(racegate, tmp_path):
    args = ("--scenario", "many-clients", "--strategy", "exhaustive", "--bound", 2, "--executions", 20)
    done = explore(racegate, tmp_path, "queue", *args)
    assert "NOT every schedule with at most 2 preemptions" in done.stdout


def test_a_search_that_is_cut_short_says_how_far_it_is_whole(racegate, tmp_path):
    args = ("--scenario", "close-twice", "--strategy", "exhaustive", "--bound", 3, "--executions", 30)
    done = explore(racegate, tmp_path, "queue", *args)
    said = r"NOT every schedule with at most 3 preemptions; every one with at most [012]$"
    assert re.search(said, done.stdout, re.MULTILINE)


def test_a_race_between_statements_is_found_at_statement_granularity_and_replays(racegate, tmp_path, flagged):
    searched = ("--scenario", "close-from-two-threads", "--strategy", "exhaustive", "--bound", 1)
    coarse = explore(racegate, tmp_path, flagged, *searched)
    assert "was closed more than once" not in coarse.stdout
    fine = explore(racegate, tmp_path, flagged, *searched, "--granularity", "statement")
    assert fine.returncode == 1, fine.stdout + fine.stderr
    assert "session s1 was closed more than once" in fine.stdout
    token = next(line.split()[-1] for line in fine.stdout.splitlines() if "racegate replay rg1." in line)
    again = racegate("replay", token, "--times", 5, "--out", tmp_path / "out")
    assert again.returncode == 1
    assert "5 replays, 1 history" in again.stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--strategy", "guess"), "--strategy: must be one of exhaustive, pct"),
        (("--granularity", "line"), "--granularity: must be one of sync, statement"),
        (("--carrier", "mules"), "--carrier: must be one of threads, greenlets"),
        (("--bound", "-7"), "--bound: must be"),
        (("--executions", "5", "--seconds", "1"), "not allowed with"),
        (("-j", "0"), "--jobs must be between 1 and 256"),
    ],
)
def test_what_cannot_be_asked_is_exit_2(racegate, tmp_path, args, says):
    done = explore(racegate, tmp_path, "queue", *args)
    assert done.returncode == 2
    assert says in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("service", "args"),
    [
        (
            "flagged.py:factory",
            ("--strategy", "exhaustive", "--bound", 1, "--granularity", "statement"),
        ),
        ("unsafe-shared", ("--executions", 61)),
    ],
)
@pytest.mark.usefixtures("flagged")
def test_two_processes_find_what_three_find(racegate, tmp_path, service, args):
    """The same executions, the same tokens, the same extent: only the time differs."""
    found = []
    for jobs in (2, 3, 1):
        done = explore(racegate, tmp_path, service, "--scenario", "close-from-two-threads", *args, "-j", jobs)
        assert done.returncode == 1, done.stdout + done.stderr
        extent = re.sub(r" in [0-9.]+ s", "", done.stdout.splitlines()[-1])
        if "exhaustive" in args:  # shares that prune do some work twice
            extent = extent.partition(";")[2]
        found.append((extent, [line for line in done.stdout.splitlines() if "racegate replay" in line]))
    assert found[0] == found[1]
    assert found[0][1]
    assert found[2][1], "one process alone finds it too; it may do with fewer decision points"
    assert ("every schedule with at most 1 preemption" in found[0][0]) is ("exhaustive" in args)
    assert "NOT every" not in found[0][0]


def test_scenarios_side_by_side_come_out_in_their_order(racegate, tmp_path):
    names = ("close-twice", "submit-after-close", "many-clients")
    args = [part for name in names for part in ("--scenario", name)]
    done = explore(racegate, tmp_path, "queue", *args, "--executions", 20, "--jobs", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[-3:]] == [
        ["close-twice", "20"],
        ["submit-after-close", "20"],
        ["many-clients", "20"],
    ]
