import json
import os
import re
import signal
import subprocess
import sys
import time
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
AGENT = ROOT / "tests/unit/supervisor/fake_agent.py"


def receipts(folder):
    found = sorted(folder.glob("out/*/receipt.dsse.json"), key=lambda path: path.stat().st_mtime_ns)
    return [b64decode(json.loads(path.read_bytes())["payload"]) for path in found]


def predicates(folder):
    return [json.loads(payload)["predicate"] for payload in receipts(folder)]


def suite(folder, scenarios, **agent):
    command = json.dumps([sys.executable, str(AGENT), *(f"{key}={value}" for key, value in agent.items())])
    (folder / "s.toml").write_text(
        f'schema = "suite/1"\nid = "fake"\nversion = "1"\nscenarios = {json.dumps(scenarios)}\nhang_after = 20.0\n'
        f'[[target]]\nname = "fake"\nadapter = "numpy"\ncommand = {command}\n'
        '[[service]]\nname = "queue"\n'
    )


def test_a_run_prints_a_table_and_leaves_a_receipt_that_says_it_is_unsigned(quick, tmp_path):
    done = quick()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "many-clients" in done.stdout
    assert "unsigned" in done.stdout
    assert "seed 1" in done.stdout
    found = predicates(tmp_path)
    assert sorted(item["service"]["name"] for item in found) == ["pool", "queue"]
    assert {item["verdict"] for item in found} == {"PASS"}
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_attempts_are_counted_and_chained(quick, tmp_path):
    for _ in range(2):
        assert quick("--service", "queue").returncode == 0
    first, second = receipts(tmp_path)
    assert json.loads(first)["predicate"]["attempt"] == 1
    assert json.loads(second)["predicate"]["attempt"] == 2
    assert json.loads(second)["predicate"]["previousReceipt"] == sha256(first).hexdigest()


def test_the_known_bad_service_fails_and_its_token_replays(racegate, tmp_path):
    done = racegate("run", "--target", "numpy", "--service", "unsafe-shared", "--scenario", "many-clients", "--seed", 3)
    assert done.returncode == 1, done.stdout + done.stderr
    token = next(line.split()[2] for line in done.stdout.splitlines() if line.strip().startswith("racegate replay"))
    again = racegate("replay", token, "--times", 20)
    assert again.returncode == 1, again.stdout + again.stderr
    assert "20 replays, 1 history" in again.stdout
    assert "own-output" in again.stdout
    (drawn,) = re.findall(r"^What went wrong: .*?(?=\n\n  racegate replay)", done.stdout, re.DOTALL | re.MULTILINE)
    assert "many_clients.py:" in drawn
    assert drawn in again.stdout
    (cell,) = tmp_path.glob(f"out/*/cell-{token.split('.')[1]}.json")
    assert racegate("replay", token, "--cell", cell).returncode == 1
    assert str(tmp_path) not in cell.read_text()
    assert sys.executable not in cell.read_text()


def test_a_replay_names_a_model_that_has_gone(racegate, tmp_path):
    model = tmp_path / "mine.json"
    model.write_bytes((ROOT / "harness/models/builtin/permutation.json").read_bytes())
    args = ("--target", "numpy", "--service", "unsafe-shared", "--scenario", "many-clients", "--seed", 3)
    done = racegate("run", *args, "--model", model)
    assert done.returncode == 1, done.stdout + done.stderr
    token = next(line.split()[2] for line in done.stdout.splitlines() if "racegate replay" in line)
    model.rename(tmp_path / "moved.json")
    gone = racegate("replay", token)
    assert gone.returncode == 2
    assert "mine.json" in gone.stderr
    assert racegate("replay", token, "--model", "moved.json").returncode == 1


@pytest.mark.parametrize(("how", "verdict"), [("segv", "CRASHED"), ("kill", "KILLED"), ("noise", "CRASHED")])
def test_death_in_the_middle_is_exit_1_and_in_the_receipt(racegate, tmp_path, how, verdict):
    suite(tmp_path, [f"s.py:{name}" for name in ("before", how, "after")])
    done = racegate("run", "s.toml")
    assert done.returncode == 1, done.stdout + done.stderr
    (predicate,) = predicates(tmp_path)
    assert [entry["verdict"] for entry in predicate["scenarios"]] == ["PASS", verdict, "PASS"]
    assert f"in execution 3 of s.py:{how}" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_exit_3_and_no_receipt_that_could_pass(tmp_path, number):
    log = tmp_path / "pids"
    suite(tmp_path, ["s.py:one", "s.py:two"], oracle="hang", log=log)
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli.main", "run", "s.toml"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 20
    while (not log.exists() or len(log.read_text().split()) < 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 3, out + err
    assert b"Traceback" not in err
    for predicate in predicates(tmp_path):
        assert predicate["interrupted"]
        assert predicate["verdict"] == "UNKNOWN"
        assert {entry["verdict"] for entry in predicate["scenarios"]} == {"NOT_RUN"}
    assert not [pid for pid in log.read_text().split() if Path(f"/proc/{pid}").exists()]


def test_a_missing_runtime_that_was_asked_for_is_3_with_its_install_line(racegate, tmp_path):
    suite(tmp_path, ["s.py:one"], missing=1)
    done = racegate("run", "s.toml")
    assert done.returncode == 3
    assert "pip install fake" in done.stdout


def test_a_user_service_by_file_from_another_folder_leaves_no_path(tmp_path):
    elsewhere = tmp_path / "elsewhere" / "alice"
    elsewhere.mkdir(parents=True)
    (elsewhere / "mine.py").write_text(
        "from harness.service.queue import SerialQueue\n\ndef make(open_session, config):\n"
        "    return SerialQueue(open_session, config)\n"
    )
    work = tmp_path / "work"
    work.mkdir()
    args = ("--target", "numpy", "--scenario", "many-clients", "--executions", "3", "--seed", "1")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli.main", "run", *args, "--service", f"{elsewhere}/mine.py:make"],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {0, 3}, done.stdout + done.stderr
    (folder,) = (work / "out").iterdir()
    for path in folder.iterdir():
        assert "alice" not in path.read_text(errors="replace"), path.name
        assert str(tmp_path) not in path.read_text(errors="replace"), path.name
    assert predicates(work)[0]["service"]["name"] == "mine.py:make"


def test_lists_name_what_there_is(racegate):
    for what, name in {
        "targets": "onnxruntime-iobinding",
        "scenarios": "many-clients",
        "services": "unsafe-shared",
        "invariants": "own-output",
        "faults": "run-failure",
    }.items():
        done = racegate("list", what)
        assert done.returncode == 0
        assert name in done.stdout


def test_doctor_names_every_adapter(racegate):
    done = racegate("doctor")
    for name in ("numpy", "onnxruntime", "litert", "tflite"):
        assert name in done.stdout


def test_without_a_runtime_the_numpy_target_runs_and_proves_nothing(racegate, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    for name in ("onnxruntime", "ai_edge_litert", "tflite_runtime"):
        (hidden / f"{name}.py").write_text("raise ImportError('hidden by the test')\n")
    done = racegate("run", "--scenario", "many-clients", "--executions", 3, PYTHONPATH=f"{hidden}{os.pathsep}{ROOT}")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "proves nothing about a runtime" in done.stderr
    assert "pip install" in done.stderr


def test_keygen_never_overwrites(racegate, tmp_path):
    assert racegate("keygen", "k.pem").returncode == 0
    assert (tmp_path / "k.pem").stat().st_mode & 0o777 == 0o600
    assert racegate("keygen", "k.pem").returncode == 2
