"""A worker that dies in the middle of a suite is a result of one cell; the others have theirs."""

import json
import signal
import subprocess
import sys
import time

import pytest
from command_line import predicate

SERVICE = '''
import ctypes, os, signal, time

from harness.service.queue import SerialQueue


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def segfault():
    ctypes.string_at(0)


def blocked():
    os.read(os.pipe()[0], 1)


def spinning():
    while True:
        pass


def dying(harm):
    class Dies(SerialQueue):
        """Harmless until it is closed a second time."""

        closes = 0

        def close(self, *, drain=True):
            self.closes += 1
            if self.closes == 2:
                harm()
            super().close(drain=drain)

    return Dies


kill, segv, hang, spin = map(dying, (killed, segfault, blocked, spinning))
'''
ADAPTER = """
import os
from pathlib import Path

from adapters.numpy_reference import NumpyAdapter, NumpySession, _parse


class Hangs(NumpySession):
    def invoke(self):
        if Path("hang-now").exists():
            os.read(os.pipe()[0], 1)  # a native call that never returns
        super().invoke()


class HangingAdapter(NumpyAdapter):
    def open(self, model, delegate, options):
        return Hangs(_parse(model), delegate)
"""
FLAG = '''
from pathlib import Path

from harness.scenario import scenario


@scenario(exercises=("own-output",), tasks=1)
def hanging_run(script):
    """A run that hangs in native code, in this scenario alone."""
    Path("hang-now").touch()
    try:
        service = script.open_service()
        service.submit(script.task()).result()
        service.close()
    finally:
        Path("hang-now").unlink(missing_ok=True)
'''
SUITE = """
schema = "suite/1"
id = "deaths"
version = "1"
scenarios = {scenarios}
hang_after = {hang_after}
budget = {{ executions = 5 }}
[[target]]
name = "the-target"
adapter = "{adapter}"
[[service]]
name = "{service}"
"""
AROUND = ("queued-cancel", "close-twice", "many-clients")


def suite(racegate, *, adapter, service, scenarios=AROUND, hang_after=30.0):
    (racegate.folder / "deaths.py").write_text(SERVICE)
    text = SUITE.format(scenarios=json.dumps(scenarios), adapter=adapter, service=service, hang_after=hang_after)
    (racegate.folder / "s.toml").write_text(text)
    return racegate("run", "s.toml", "--seed", 1)


@pytest.mark.runtime
@pytest.mark.parametrize(
    ("service", "verdict", "says"),
    [
        ("kill", "KILLED", "was killed with SIGKILL, by the kernel for lack of memory or by somebody"),
        ("segv", "CRASHED", "crashed with SIGSEGV"),
        ("hang", "HUNG", "said nothing for 3 s and was killed"),
    ],
)
def test_the_other_cells_have_results_and_the_receipt_says_how_it_died(
    racegate, require_runtime, service, verdict, says
):
    require_runtime("onnxruntime")
    done = suite(racegate, adapter="onnxruntime", service=f"deaths.py:{service}", hang_after=3.0)
    assert done.code == 1, done.text
    assert done.verdicts == {"queued-cancel": "PASS", "close-twice": verdict, "many-clients": "PASS"}
    assert done.predicate["verdict"] == "FAIL"
    assert done.predicate["counts"][verdict] == 1
    assert f"the worker {says}, in execution 0 of close-twice" in " ".join(done.out.split())


def test_a_native_call_that_never_returns_is_hung_and_not_out_of_control(racegate):
    (racegate.folder / "adapter.py").write_text(ADAPTER)
    (racegate.folder / "flag.py").write_text(FLAG)
    done = suite(
        racegate,
        adapter="adapter.py:HangingAdapter",
        service="queue",
        scenarios=("queued-cancel", "flag.py:hanging_run"),
        hang_after=3.0,
    )
    assert done.code == 1, done.text
    assert done.verdicts == {"queued-cancel": "PASS", "flag.py:hanging_run": "HUNG"}
    (racegate.folder / "hang-now").unlink()


@pytest.mark.parametrize(("service", "line"), [("spin", "        pass"), ("hang", "    os.read(os.pipe()[0], 1)")])
def test_what_escapes_control_is_unknown_with_file_and_line(racegate, service, line):
    done = suite(racegate, adapter="numpy", service=f"deaths.py:{service}")
    assert done.code == 3, done.text
    assert done.verdicts == {"queued-cancel": "PASS", "close-twice": "UNKNOWN", "many-clients": "PASS"}
    number = SERVICE.splitlines().index(line) + 1
    lines = {number, number - 1} if service == "spin" else {number}  # `while True` itself, or its body
    said = " ".join(done.out.split())
    assert any(f"ran on without control at {place}" in said for place in places(racegate, lines)), done.out


def places(racegate, lines):
    return [f"{folder}deaths.py:{line}" for line in lines for folder in ("", f"{racegate.folder.name}/")]


@pytest.mark.runtime
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_run_that_is_stopped_in_the_middle_is_undecided(racegate, require_runtime, number):
    require_runtime("onnxruntime")
    command = [
        "run",
        "--target",
        "onnxruntime",
        "--executions",
        "200000",
        "--scenario",
        "*-close",
        "--service",
        "queue",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli.main", *command],
        cwd=racegate.folder,
        env=racegate.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().startswith("suite release")
    time.sleep(3.0)  # the worker is somewhere in its first cell
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, out + err
    assert "Traceback" not in err
    for run in racegate.folder.glob("out/2*"):
        told = predicate(run)
        assert (told["interrupted"], told["verdict"]) == (True, "UNKNOWN")
        assert "PASS" not in {entry["verdict"] for entry in told["scenarios"]}
