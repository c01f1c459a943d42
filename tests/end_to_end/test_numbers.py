"""What a run costs where it is started: the supervisor holds no runtime and no arrays."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

PEAK_MIB = 200


def peak_mib(pid):
    """The most memory a living process has had, in MiB; 0 when it has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    kib = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")), "0")
    return int(kib) / 1024


@pytest.mark.runtime
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_the_supervisor_of_three_targets_stays_below_200_mib(racegate, require_runtime):
    require_runtime("onnxruntime")
    require_runtime("litert")
    targets = [part for name in ("numpy", "onnxruntime", "litert") for part in ("--target", name)]
    command = ["run", *targets, "--executions", "3", "--seed", "1", "--scenario", "c*"]
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli.main", *command],
        cwd=racegate.folder,
        env=racegate.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, peak_mib(process.pid))
        time.sleep(0.01)
    assert process.returncode == 0
    assert len(list(racegate.folder.glob("out/*/receipt.dsse.json"))) == 6
    assert 10 < peak < PEAK_MIB
