"""A configuration that was made smaller, to be searched whole, still shows what its scenario is there to show."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SHOWN = {"pipeline_hands_over": ("own_output/one_buffer_for_both_stages", "own-output")}


@pytest.mark.parametrize("scenario", SHOWN)
def test_a_smaller_configuration_still_fails_a_wrong_service(scenario, tmp_path):
    specimen, invariant = SHOWN[scenario]
    wrong = f"{TESTS / 'specimens' / specimen}.py:specimen"
    small = f"{TESTS / 'end_to_end' / 'smallest.py'}:{scenario}"
    command = [sys.executable, "-m", "harness.cli.main", "explore", wrong, "--scenario", small, "--out", str(tmp_path)]
    done = subprocess.run([*command, "--executions", "50"], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{invariant}: " in done.stdout
