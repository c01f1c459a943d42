"""A full disk while results are written: one line, exit 3, nothing half written, and the rest can be run."""

import subprocess
import sys

import pytest

SUITE = """
schema = "suite/1"
id = "full"
version = "1"
scenarios = ["many-clients"]
seed = 1
budget = { executions = 2 }
[[target]]
name = "numpy"
adapter = "numpy"
[[service]]
name = "queue"
"""
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)  # the system refuses what goes beyond: EFBIG
from harness.cli.main import main
sys.exit(main(["run", "s.toml"]))
"""
SMALL_DISK = """
import subprocess, sys
from pathlib import Path
Path("out").mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + sys.argv[1], "none", "out"], check=True)
from harness.cli.main import main
code = main(["run", "s.toml"])
print("left:", *sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*")))
sys.exit(code)
"""


def run(racegate, program, *args, before=()):
    (racegate.folder / "s.toml").write_text(SUITE)
    done = subprocess.run(
        [*before, sys.executable, "-c", program, *map(str, args)],
        cwd=racegate.folder,
        env=racegate.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def one_line(done, says):
    (line,) = done.stderr.splitlines()
    assert line == f"racegate: cannot write to 'out': {says}; the run is incomplete, and no receipt is half written"
    assert done.returncode == 3


@pytest.mark.parametrize(("limit", "kept"), [(1, False), (3000, True)], ids=["at once", "at the receipt"])
def test_a_limit_on_files_leaves_nothing_half_written_and_the_rest_can_be_run(racegate, limit, kept):
    done = run(racegate, LIMITED, limit)
    one_line(done, "File too large")
    found = [path.name for path in (racegate.folder / "out").iterdir()]
    assert [name.startswith(".unfinished-") for name in found] == [True] * kept
    assert not [path for path in racegate.folder.glob("out/*/.*") if path.is_file()], "a temporary file is left"
    again = racegate("run", "s.toml", "--resume")
    assert again.code == 0, again.text
    assert ("goes on with an interrupted run: 1 cell done" in again.out) == kept
    assert [path.name for path in (racegate.folder / "out").iterdir()] == [again.runs[0].name]


@pytest.fixture
def mounts():
    """The command that gives a process file systems of its own; skipped, with the reason, where that is not allowed."""
    command = ["unshare", "--map-root-user", "--mount"]
    try:
        tried = subprocess.run(
            [*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if tried.returncode:
        pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
    return command


def test_a_disk_that_is_full_leaves_nothing_half_written(racegate, mounts):
    done = run(racegate, SMALL_DISK, "16k", before=mounts)
    one_line(done, "No space left on device")
    (left,) = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("left:")]
    assert all(name.startswith(".unfinished-") for name in left)
    assert all(name.endswith(".json") or "/" not in name for name in left), "a temporary file is left"
