import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCENARIOS = ("many-clients", "queued-cancel")


@pytest.fixture
def racegate(tmp_path):
    """Run the real command in a folder of its own."""

    def run(*args, timeout=60, **env):
        return subprocess.run(
            [sys.executable, "-m", "harness.cli.main", *map(str, args)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "RACEGATE_CACHE": str(tmp_path / "cache"), **env},
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def quick(racegate):
    """A short run on the numpy reference."""

    def run(*args, **env):
        scenarios = [part for name in SCENARIOS for part in ("--scenario", name)]
        return racegate("run", "--target", "numpy", "--executions", 5, "--seed", 1, *scenarios, *args, **env)

    return run
