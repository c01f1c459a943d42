"""A supervisor that is killed at any moment leaves no receipt that lies, and `--resume` runs only what is missing."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import predicate

from reports import envelope
from reports.keys import load_public_key

KILLS = 50
SEED = 5
SUITE = """
schema = "suite/1"
id = "killed"
version = "1"
scenarios = ["queued-cancel", "many-clients", "close-twice"]
seed = 1
budget = { executions = 4 }
[[target]]
name = "the-target"
adapter = "numpy"
[[service]]
name = "unsafe-shared"
slots = 2
"""
MORE = """
[[service]]
name = "queue"
[[control]]
scenario = "hidden-state"
service = { name = "queue" }
model = "builtin:stateful"
expect = "UNKNOWN"
invariant = "own-output"
"""
RUN = ("run", "s.toml", "--key", "k.pem", "--resume")


def printed(text):
    """The cells whose results were printed as they came."""
    lines = (line.split() for line in text.splitlines() if line.startswith("the-target  "))
    return {(line[1], line[2]) for line in lines}


def verdicts(folder):
    """(service, scenario or control) -> verdict, over all receipts, each of which must be whole and true."""
    found = {}
    for run in folder.glob("out/2*"):
        key = load_public_key(folder / "k.pub.pem")
        payload = envelope.verify((run / "receipt.dsse.json").read_bytes(), {"k": (key,)}).payload
        told = json.loads(payload)["predicate"]
        assert told == json.loads((run / "predicate.json").read_bytes())
        for entry in told["evidence"]:
            assert hashlib.sha256((run / entry["name"]).read_bytes()).hexdigest() == entry["sha256"]
        assert not told["interrupted"]
        for entry in [*told["scenarios"], *(control["scenario"] for control in told["controls"])]:
            assert (told["service"]["name"], entry["id"]) not in found, "two receipts for one question"
            found[told["service"]["name"], entry["id"]] = (entry["verdict"], entry["executions"])
    return found


def left_over(folder):
    return [path.name for path in folder.glob("out/.*")]


def workers_of(pid):
    """The processes that were started for this supervisor and live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"RACEGATE_SUPERVISOR={pid}\0".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def kill_after(racegate, seconds):
    """Start a run, kill it; returns what it had printed. No worker may live on."""
    told = racegate.folder / "told.txt"
    with told.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness.cli.main", *RUN],
            cwd=racegate.folder,
            env=racegate.environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    deadline = time.monotonic() + 20  # at once, on a machine that is not overloaded
    while workers_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not workers_of(process.pid)
    return told.read_text()


def kill_and_resume(racegate, seconds, cells, expected):
    folder = racegate.folder
    before = printed(kill_after(racegate, seconds))
    so_far = verdicts(folder)
    assert so_far.items() <= expected.items()
    over = len(so_far) == len(expected) and not list(folder.glob("out/.unfinished-*"))
    done = racegate(*RUN)
    assert done.code == 1, done.text
    if not over:  # killed too late, nothing was missing, and this was a second run
        after = printed(done.out)
        assert not before & after, "a finished cell ran again"
        assert len(cells - before - after) <= 1, "a kept cell may not have been printed before the kill, no more"
        assert verdicts(folder) == expected
    assert not left_over(folder)


def undisturbed(racegate, suite):
    """What a run finds that nobody kills: the cells that it prints, what the receipts say, and how long it takes."""
    (racegate.folder / "s.toml").write_text(suite)
    assert racegate("keygen", "k.pem").code == 0
    begun = time.monotonic()
    done = racegate(*RUN)
    took = time.monotonic() - begun
    assert done.code == 1, done.text
    expected = verdicts(racegate.folder)
    assert expected["unsafe-shared", "many-clients"][0] == "FAIL"
    clear(racegate.folder)
    return printed(done.out), expected, took


def clear(folder):
    for path in sorted(folder.glob("out/**/*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def killed_at(racegate, suite, moments):
    """Kill a run at each of these parts of the time that it takes, and finish it."""
    cells, expected, took = undisturbed(racegate, suite)
    assert len(cells) == 3 * suite.count("[[service]]")
    for moment in moments:
        kill_and_resume(racegate, moment * took, cells, expected)
        clear(racegate.folder)


@pytest.mark.timeout(600)  # seven runs, and the machine may have much else to do
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a worker that its supervisor died")
def test_a_killed_supervisor_leaves_nothing_that_lies_and_the_rest_is_run(racegate):
    killed_at(racegate, SUITE, (0.5, 0.7, 0.9))


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a worker that its supervisor died")
def test_fifty_random_moments(racegate):
    drawn = random.Random(SEED)
    killed_at(racegate, SUITE + MORE, [drawn.uniform(0.05, 1.0) for _ in range(KILLS)])


def start_and_kill_when(racegate, *args, shows):
    """Start a run and kill it when it has printed something."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli.main", *args],
        cwd=racegate.folder,
        env=racegate.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        for line in process.stdout:
            if shows in line:
                break
        process.kill()


SMALL = """
schema = "suite/1"
id = "small"
version = "1"
scenarios = ["many-clients", "queued-cancel"]
budget = { executions = 3 }
[[target]]
name = "numpy"
adapter = "numpy"
[[service]]
name = "queue"
"""
QUICK = ("run", "small.toml")


@pytest.fixture
def small(racegate):
    (racegate.folder / "small.toml").write_text(SMALL)
    return racegate


def test_another_run_is_no_resumption_and_says_what_differs(small):
    (small.folder / "mine.py").write_text("from harness.service.queue import SerialQueue as make\n")
    asked = (*QUICK, "--service", "mine.py:make", "--seed", 3)
    start_and_kill_when(small, *map(str, asked), shows="many-clients")
    (unfinished,) = left_over(small.folder)
    done = small(*asked, "--executions", 4, "--resume")
    assert done.code == 2, done.text
    (line,) = done.err.splitlines()
    assert line.startswith("racegate: --resume: the budget differs from what it was")
    (small.folder / "mine.py").write_text("# changed\nfrom harness.service.queue import SerialQueue as make\n")
    done = small(*asked, "--resume")
    assert done.code == 2
    assert "the file mine.py differs" in done.err
    assert left_over(small.folder) == [unfinished]
    assert not list(small.folder.glob("out/2*"))


def test_without_resume_the_interrupted_run_is_named_and_kept(small):
    start_and_kill_when(small, *map(str, QUICK), shows="many-clients")
    (unfinished,) = left_over(small.folder)
    done = small(*QUICK)
    assert done.code == 0, done.text
    assert f"cells done is in out/{unfinished}: --resume runs the rest" in done.err.replace("1 cell ", "1 cells ")
    again = small(*QUICK, "--resume")  # a fresh seed was drawn then, and is taken up again
    assert again.code == 0, again.text
    assert "goes on with an interrupted run: " in again.out
    assert not left_over(small.folder)
    assert len({told["scenarios"][0]["exploration"]["seed"] for told in map(predicate, again.runs)}) == 2


def test_what_a_kill_left_half_written_is_removed_and_a_living_run_s_is_not(small):
    from reports.held import new_held_folder

    out = small.folder / "out"
    out.mkdir()
    (out / ".20260101T000000Z-x-queue-0000.partial-abc").mkdir()
    living = new_held_folder(out, ".20260101T000000Z-y-queue-0000.partial-")
    done = small(*QUICK, "--resume")
    assert done.code == 0, done.text
    assert "no interrupted run is in 'out': everything is run" in done.err
    assert "removed 1 half-written folder of a run that was killed" in done.out
    assert left_over(small.folder) == [living.path.name]
    living.release()


def test_a_damaged_result_is_found_out_again(small):
    start_and_kill_when(small, *map(str, QUICK), shows="many-clients")
    (folder,) = small.folder.glob("out/.unfinished-*")
    kept = list(folder.glob("cell-*.json"))
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes().replace(b'"PASS"', b'"FAIL"'))
    done = small(*QUICK, "--resume")
    assert done.code == 0, done.text
    assert printed_numpy(done.out) >= {"many-clients"}


def printed_numpy(text):
    return {line.split()[2] for line in text.splitlines() if line.startswith("numpy  ")}


def test_ctrl_c_keeps_what_is_done(small):
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli.main", *map(str, QUICK), "--seed", "2"],
        cwd=small.folder,
        env=small.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if "many-clients" in line:
            os.kill(process.pid, signal.SIGINT)
            break
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "done: the same command with --resume runs the rest" in err
    done = small(*QUICK, "--seed", 2, "--resume")
    assert done.code == 0, done.text
    assert [told["verdict"] for told in map(predicate, done.runs) if not told["interrupted"]] == ["PASS"]
    assert not left_over(small.folder)
