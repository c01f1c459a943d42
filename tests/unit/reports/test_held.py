"""A folder that a living process holds is nobody else's; one that was left behind can be told, and removed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reports.files import remove_half_written
from reports.held import hold, new_held_folder, remove_left_over

ROOT = Path(__file__).parents[3]
HOLDER = """
import sys, time
from pathlib import Path
from reports.held import new_held_folder
print(new_held_folder(Path(sys.argv[1]), ".run.partial-").path.name, flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds a folder, and the folder's path."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT)}) as process:
        yield process, tmp_path / process.stdout.readline().strip()
        process.kill()


def test_what_another_process_holds_is_left_alone_until_it_dies(holder, tmp_path):
    process, path = holder
    (path / "history.jsonl").write_text("half")
    assert hold(path) is None
    assert remove_half_written(tmp_path) == 0
    assert path.exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert remove_half_written(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_let_go_and_held_again(tmp_path):
    held = new_held_folder(tmp_path, ".a.partial-")
    assert hold(held.path) is None
    held.release()
    again = hold(held.path)
    assert again is not None
    again.rename(".b.partial-")
    assert again.path == tmp_path / ".b.partial-"
    again.remove()
    assert list(tmp_path.iterdir()) == []
    assert hold(held.path) is None, "it has gone"


def test_a_file_system_without_locks_removes_nothing(tmp_path, monkeypatch):
    def unsupported(*_args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unsupported)
    held = new_held_folder(tmp_path, ".a.partial-")
    assert held.path.is_dir()
    assert hold(held.path) is None
    assert remove_half_written(tmp_path) == 0
    held.remove()
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys, time
from pathlib import Path
from reports.held import new_held_folder
new_held_folder(Path(sys.argv[1]), ".left-")
if os.fork() == 0:
    time.sleep(0.3)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_it_starts_a_child(out):
    """A process that dies of SIGKILL while its child has not come to run a program yet, and so has all of it open."""
    subprocess.run([sys.executable, "-c", KILLED, str(out)], env={"PYTHONPATH": str(ROOT)}, check=False)
    (folder,) = out.glob(".left-*")
    return folder


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="what a killed process leaves locked is POSIX's")


@FORKS
def test_what_a_killed_process_held_is_held_once_its_last_child_has_come_up(tmp_path):
    folder = killed_while_it_starts_a_child(tmp_path)
    assert hold(folder, seconds=0.0) is None
    held = hold(folder, seconds=20.0)
    assert held is not None
    held.release()


@FORKS
def test_what_it_left_is_removed_all_the_same(tmp_path):
    killed_while_it_starts_a_child(tmp_path)
    assert remove_left_over(tmp_path, ".left-*") == 1
    assert not list(tmp_path.iterdir())


def test_a_living_process_is_waited_for_and_keeps_its_own(tmp_path):
    living = new_held_folder(tmp_path, ".left-")
    begun = time.monotonic()
    assert hold(living.path, seconds=0.1) is None
    assert 0.1 <= time.monotonic() - begun < 5
    living.release()
