"""A configuration that was made smaller, to be searched whole, still shows what its scenario is there to show."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SHOWN = {
    "smallest.py:pipeline_hands_over": "own_output/one_buffer_for_both_stages",
    "smallest.py:switch_under_load": "one_version/pending_runs_on_the_new_one",
    "smallest.py:two_switches": "one_version/returns_before_it_is_done",
    "smallest.py:device_reset_spares_the_next_model": "recovery_order/spare_not_looked_at",
    "smallest.py:time_out_has_the_neighbours_checked": "recovery_order/neighbours_not_asked",
    "smallest.py:watchdog_waits_for_the_device": "recovery_order/never_asked",
    "smallest_on_a_pool.py:stale_model": "fresh_only/stale_after_a_switch",
}


def explore(service, scenario, out):
    small = str(TESTS / "end_to_end" / scenario)
    command = [sys.executable, "-m", "harness.cli.main", "explore", str(TESTS / service), "--scenario", small]
    options = ["--executions", "200", "--seed", "1", "--out", str(out)]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("scenario", SHOWN)
def test_a_smaller_configuration_still_fails_a_wrong_service(scenario, tmp_path):
    specimen = SHOWN[scenario]
    done = explore(f"specimens/{specimen}.py:specimen", scenario, tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{specimen.partition('/')[0].replace('_', '-')}: " in done.stdout


def test_a_pipeline_with_other_stages_is_judged_as_the_built_in_one_is(tmp_path):
    done = explore("end_to_end/two_stages.py:TwoStages", "smallest.py:pipeline_hands_over", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout
