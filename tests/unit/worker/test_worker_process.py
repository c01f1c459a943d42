import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.supervisor.conformance import check
from harness.supervisor.process import Worker, worker_command
from harness.worker.device import describe_device
from harness.worker.protocol import PROTOCOL_VERSION, ErrorReport, Hello, HelloParams, ModelParams, Probe

FAKE = Path(__file__).parents[1] / "supervisor" / "fake_agent.py"


def test_our_worker_conforms():
    assert [(result.name, result.problem) for result in check(worker_command()) if result.problem] == []


def test_the_fake_agent_of_the_tests_conforms():
    assert [(result.name, result.problem) for result in check([sys.executable, str(FAKE)]) if result.problem] == []


def test_a_command_that_does_not_speak_the_protocol_fails_every_check():
    results = check([sys.executable, "-c", "print('hello')"])
    assert all(result.problem for result in results)


@pytest.fixture
def worker():
    process = Worker(worker_command())
    yield process
    process.stop()


def hello(worker, role="oracle"):
    answer = worker.ask("hello", HelloParams(PROTOCOL_VERSION, role), Hello)
    assert isinstance(answer, Hello)
    return answer


def test_a_piece_out_of_order_is_refused(worker):
    hello(worker)
    answer = worker.ask("model", ModelParams("0" * 64, "m", ".bin", 10, 5, b"x"), dict)
    assert isinstance(answer, ErrorReport)
    assert (answer.kind, answer.error_class) == ("protocol", "ModelOffset")


def test_the_numpy_adapter_answers_a_probe(worker):
    hello(worker)
    answer = worker.ask("probe", {"adapter": "numpy"}, Probe)
    assert isinstance(answer, Probe)
    assert answer.importable


def test_what_a_library_prints_does_not_reach_the_wire(tmp_path):
    noisy = tmp_path / "noisy.py"
    noisy.write_text(
        "import os\n"
        "os.write(1, b'printed by native code\\n')\n"
        "print('printed by python', flush=True)\n"
        "assert os.read(0, 1) == b''  # requests are out of reach too\n"
        "def factory(open_session, config):\n    raise NotImplementedError\n"
    )
    worker = Worker(worker_command())
    try:
        hello(worker, "cells")
        params = {"service": {"name": f"{noisy}:factory"}, "scenarios": []}
        answer = worker.ask("describe", params, dict)
        assert isinstance(answer, dict), answer
        assert answer["service"]["name"] == "noisy.py:factory"
    finally:
        worker.stop()
    assert "printed by native code" in worker.last_words()


def test_a_module_in_the_working_directory_does_not_shadow_the_standard_library(tmp_path):
    (tmp_path / "queue.py").write_text("raise SystemExit('shadowed')\n")
    request = json.dumps({"id": 1, "op": "hello", "params": {"protocol": PROTOCOL_VERSION, "role": "cells"}}) + "\n"
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        worker_command(),
        input=request.encode(),
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["protocol"] == PROTOCOL_VERSION


def test_a_device_is_a_class_and_no_unit(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text(
        "model name\t: Test CPU\nflags\t\t: fpu avx2 hypervisor avx\nSerial\t\t: 00000000deadbeef\n"
    )
    (tmp_path / "proc/meminfo").write_text("MemTotal:       2097152 kB\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("1073741824\n")
    device = describe_device(tmp_path)
    assert device.cpu_model == "Test CPU"
    assert device.cpu_isa == ("avx", "avx2")
    assert device.memory_mib == 2048
    assert device.cgroup_limits == {"memory_max": "1073741824"}
    assert device.virtualized == "hypervisor"
    assert "deadbeef" not in repr(device)
    assert os.uname().nodename not in repr(device)


def test_a_device_without_proc_is_still_a_device(tmp_path):
    device = describe_device(tmp_path)
    assert device.device_class.endswith("-cpu")
    assert device.cpu_isa == ()
