"""What a model file can do to a run: one line or one recorded result, and the other targets go on."""

import hashlib
import os
import shutil
import subprocess
import sys

import pytest
from command_line import predicate

from harness.models.reference import resolve

MODEL = resolve("builtin:permutation", (".json",))
SUITE = """
schema = "suite/1"
id = "files"
version = "1"
scenarios = ["many-clients", "queued-cancel", "close-twice"]
seed = 1
budget = { executions = 3 }
[[service]]
name = "queue"
"""
TARGET = """
[[target]]
name = "{name}"
adapter = "numpy"
model = "{name}.json"
"""


def suite(racegate, *targets):
    (racegate.folder / "s.toml").write_text(SUITE + "".join(TARGET.format(name=name) for name in targets))


def by_model(done):
    """The file's name in the run's folder -> the verdict, over all receipts."""
    return {run.name.split("Z-")[1].partition("-")[0]: predicate(run)["verdict"] for run in done.runs}


def test_a_file_that_is_no_model_has_one_line_and_the_other_targets_go_on(racegate):
    suite(racegate, "good", "empty", "folder", "wrong", "cut")
    (racegate.folder / "good.json").write_bytes(MODEL.data)
    (racegate.folder / "empty.json").touch()
    (racegate.folder / "folder.json").mkdir()
    (racegate.folder / "wrong.json").write_bytes(b"\x08\x07\x12\x00 this is another format")
    (racegate.folder / "cut.json").write_bytes(MODEL.data[: len(MODEL.data) // 2])
    done = racegate("run", "s.toml")
    assert done.code == 3, done.text
    assert by_model(done) == {"good": "PASS", "wrong": "UNKNOWN", "cut": "UNKNOWN"}
    assert done.err.splitlines() == [
        "racegate: target empty is not run: model 'empty.json' is an empty file",
        "racegate: target folder is not run: model 'folder.json': it is a folder, not a model file",
    ]
    said = " ".join(done.out.split())
    assert said.count("the runtime does not load this model") >= 2


def test_where_no_model_is_left_it_is_the_user_s_to_mend(racegate):
    suite(racegate, "empty")
    (racegate.folder / "empty.json").touch()
    done = racegate("run", "s.toml")
    assert done.code == 2
    assert done.err == "racegate: model 'empty.json' is an empty file\n"


NOT_ALL_POWERFUL = """
import ctypes, os, sys
if os.getuid() == 0:  # root reads every file: give that up, for good
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_a_file_without_permission_has_one_line_and_the_other_targets_go_on(racegate):
    suite(racegate, "good", "secret")
    (racegate.folder / "good.json").write_bytes(MODEL.data)
    secret = racegate.folder / "secret.json"
    secret.write_bytes(MODEL.data)
    secret.chmod(0)
    command = [sys.executable, "-c", NOT_ALL_POWERFUL]
    reads = [*command, "-c", "open('secret.json')"]
    if not subprocess.run(reads, cwd=racegate.folder, capture_output=True, check=False).returncode:
        pytest.skip("nothing keeps this user from reading a file without permissions")
    done = subprocess.run(
        [*command, "-m", "harness.cli.main", "run", "s.toml"],
        cwd=racegate.folder,
        env=racegate.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    expected = "racegate: target secret is not run: model 'secret.json': it cannot be read (Permission denied)\n"
    assert done.stderr == expected
    assert [predicate(run.parent)["verdict"] for run in racegate.folder.glob("out/*/receipt.dsse.json")] == ["PASS"]


@pytest.mark.parametrize("how", ["truncated", "replaced", "removed"])
def test_a_file_that_changes_while_it_is_loaded_changes_nothing(racegate, how):
    suite(racegate, "good")
    path = racegate.folder / "good.json"
    path.write_bytes(MODEL.data)
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli.main", "run", "s.toml"],
        cwd=racegate.folder,
        env=racegate.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if "many-clients" in line:  # the model is loaded, and two cells are to come
            {"truncated": lambda: os.truncate(path, 0), "replaced": lambda: replace(path), "removed": path.unlink}[
                how
            ]()
            break
    process.communicate(timeout=60)
    assert process.returncode == 0
    (run,) = racegate.folder.glob("out/2*")
    told = predicate(run)
    assert told["verdict"] == "PASS"
    assert {entry["model"] for entry in told["scenarios"]} == {hashlib.sha256(MODEL.data).hexdigest()}


def replace(path):
    path.with_suffix(".new").write_bytes(b"something else")
    shutil.move(path.with_suffix(".new"), path)
