from __future__ import annotations

import getpass
import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from gate_cases import KEY, judge
from msgspec.structs import replace
from run_records import failing_run, run

from reports import envelope, files
from reports.files import RunExistsError, run_files, write_run

FILES = {
    "receipt.dsse.json", "predicate.json", "history.jsonl", "timeline.json", "junit.xml", "summary.md", "report.html",
    "suite.lock.json",
}  # fmt: skip


def test_all_files_of_a_run_are_written(tmp_path):
    folder = write_run(tmp_path / "out", failing_run(), KEY, {"cell.json": b"{}"})
    assert folder == tmp_path / "out" / failing_run().run_id
    assert {path.name for path in folder.iterdir()} == {*FILES, "cell.json"}
    assert [path.name for path in (tmp_path / "out").iterdir()] == [folder.name]


def test_the_receipt_is_the_last_file(tmp_path, monkeypatch):
    written = []
    write = files.write_durably
    monkeypatch.setattr(files, "write_durably", lambda path, data: (written.append(path.name), write(path, data)))
    write_run(tmp_path, run(), None, {"cell.json": b"{}"})
    assert written[-1] == "receipt.dsse.json"
    assert len(written) == len(FILES) + 1


def test_a_signed_run_passes_the_gate(tmp_path):
    folder = write_run(tmp_path / "out", run(), KEY)
    assert judge(tmp_path, (folder / "receipt.dsse.json").read_bytes()).decision == "ALLOW"


def test_a_run_without_a_key_says_that_it_is_unsigned_everywhere(tmp_path):
    folder = write_run(tmp_path, run())
    assert json.loads((folder / "receipt.dsse.json").read_bytes())["signatures"] == []
    for name in ("summary.md", "report.html"):
        assert "UNSIGNED" in (folder / name).read_text()
        assert "UNSIGNED" not in run_files(run(), KEY)[name].decode()


def test_the_evidence_on_disk_has_the_digests_of_the_receipt(tmp_path):
    folder = write_run(tmp_path, failing_run(), KEY)
    payload = envelope.verify((folder / "receipt.dsse.json").read_bytes(), {"k": (KEY.public_key(),)}).payload
    for entry in json.loads(payload)["predicate"]["evidence"]:
        assert hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest() == entry["sha256"]


def test_a_run_is_never_overwritten(tmp_path):
    folder = write_run(tmp_path, run(), KEY)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(RunExistsError):
        write_run(tmp_path, run(interrupted=True), KEY)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "receipt.dsse.json", "junit.xml", "x\n"])
def test_an_extra_file_is_a_plain_name_beside_the_receipt(tmp_path, name):
    with pytest.raises(ValueError, match="no name for a file"):
        write_run(tmp_path / "out", run(), None, {name: b""})
    assert not (tmp_path / "out").exists()


def test_a_failure_while_writing_leaves_nothing(tmp_path, monkeypatch):
    write = files.write_durably

    def failing(path, data):
        if path.name == "receipt.dsse.json":
            raise OSError(28, "No space left on device")
        write(path, data)

    monkeypatch.setattr(files, "write_durably", failing)
    with pytest.raises(OSError, match="No space left"):
        write_run(tmp_path, run(), KEY)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from reports import files
from run_records import run
write = files.write_durably
def killing(path, data):
    write(path, data)
    if path.name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
files.write_durably = killing
files.write_run(Path(sys.argv[1]), run())
"""


@pytest.mark.parametrize("last", ["history.jsonl", "report.html", "receipt.dsse.json"])
def test_a_kill_at_any_file_leaves_no_run_folder(tmp_path, last):
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), last],
        env={**os.environ, "PYTHONPATH": path},
        timeout=60,
        check=False,
    )
    assert done.returncode == -9
    assert not (tmp_path / run().run_id).exists()


def names_of_this_machine() -> set[str]:
    """What must never be in a file: users, hosts, folders. Names too short to tell from a word are left out."""
    names = {getpass.getuser(), socket.gethostname(), str(Path.home()), str(Path.cwd()), sys.prefix}
    return {name for name in names if len(name) > 4}


def test_no_path_user_or_host_of_this_machine_is_in_any_file(tmp_path):
    named = "/home/fake-user-name/secret-folder/magika.onnx"
    record = replace(failing_run(), model_name=named)
    folder = write_run(tmp_path, record, KEY, {"cell.json": b"{}"})
    planted = {"fake-user-name", "secret-folder", str(tmp_path), *names_of_this_machine()}
    for path in folder.iterdir():
        text = path.read_text()
        assert [secret for secret in planted if secret in text] == [], path.name
        assert "/home/" not in text
    assert "magika.onnx" in (folder / "report.html").read_text()


def test_a_windows_path_is_cut_too(tmp_path):
    folder = write_run(tmp_path, run(model_name="C:\\Users\\fake-user-name\\magika.onnx"), KEY)
    assert not any("fake-user-name" in path.read_text() for path in folder.iterdir())


def test_the_suite_lock_is_what_a_policy_pins():
    lock = json.loads(run_files(run())["suite.lock.json"])
    assert lock["digest"] == json.loads(run_files(run())["predicate.json"])["suite"]["digest"]
    assert [entry["id"] for entry in lock["scenarios"]] == ["many-clients", "model-switch", "queue-full"]
