"""The compiled core decides as the interpreted one does: `make test-compiled` runs both on the same explorations."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.engine.compiling import core

ROOT = Path(__file__).parents[2]
SITE = Path(harness.__file__).parents[1]
OF_ITS_OWN = re.compile(r" in [\d.]+ s\b|\d{8}T\d{6}Z-\S+")
"""What two runs of one command differ in: how long it took, and what the folder is called."""
SPECIMENS = "tests/specimens/own_output"
MANY = f"{SPECIMENS}/slot_returned_before_the_fetch.py:specimen --scenario many-clients --executions 150"
ON_A_POOL = "pool --slots 2 --scenario tests/end_to_end/smallest_on_a_pool.py:device_reset"
SEARCHES = (
    f"{MANY} --seed 3",
    f"{MANY} --seed 4 --carrier greenlets --granularity statement",
    f"{MANY} --seed 5 --strategy pct --bound 4",
    "tests/specimens/no_deadlock/locks_in_two_orders.py:specimen --seed 6 --executions 200 --granularity statement",
    "queue --scenario queue-full --strategy exhaustive --bound 1 --carrier greenlets --executions 3000 --seed 1",
    f"{ON_A_POOL} --strategy exhaustive --bound 1 --capacity 1 --granularity statement --executions 3000 --seed 1",
    "docs/examples/asyncio_service.py:factory --executions 60 --seed 2",
    "docs/examples/executor_service.py:factory --executions 60 --seed 2 --granularity statement",
)

pytestmark = pytest.mark.skipif(core() == "interpreted", reason="needs a compiled core: `make test-compiled`")


def racegate(arguments, site, folder):
    """Run a command on the core of `site`; what it printed and recorded, but for times."""
    command = [sys.executable, "-P", "-m", "harness.cli.main", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False
    )
    histories = sorted(folder.rglob("history.jsonl")) if folder is not None else []
    said = OF_ITS_OWN.sub("", done.stdout + done.stderr).replace(str(folder), "")
    return done.returncode, said, [history.read_bytes() for history in histories]


def test_two_cores_are_compared():
    said = [racegate(["doctor"], site, None)[1] for site in (SITE, ROOT)]
    assert [re.search(r"core +(\w+)", each)[1] for each in said] == ["compiled", "interpreted"]


@pytest.mark.parametrize("search", SEARCHES)
def test_both_explore_the_same_executions(search, tmp_path):
    compiled, interpreted = (
        racegate(["explore", *search.split(), "--out", str(tmp_path / name)], site, tmp_path / name)
        for name, site in (("compiled", SITE), ("interpreted", ROOT))
    )
    assert compiled[0] in {0, 1, 3}, compiled[1]
    assert "executions of about" in compiled[1]
    assert compiled[1].splitlines() == interpreted[1].splitlines()
    assert compiled[2] == interpreted[2]


@pytest.fixture
def copy(tmp_path):
    """The compiled installation, to be spoilt."""
    return Path(shutil.copytree(SITE, tmp_path / "site"))


def test_a_changed_source_beside_its_compiled_module_is_said_and_explores_nothing(copy):
    with (copy / "harness" / "engine" / "scheduler.py").open("a") as source:
        source.write("# changed\n")
    code, said, _ = racegate(["doctor"], copy, None)
    assert code == 3
    assert "the engine's core was not compiled from the harness/engine/scheduler.py that is here" in said
    code, said, _ = racegate(["explore", "queue", "--scenario", "queue-full", "--out", str(copy / "out")], copy, None)
    assert code not in {0, 1}
    assert "install racegate again" in said


def test_a_compiled_module_that_was_replaced_makes_the_receipt_say_that_racegate_was_changed(copy):
    program = "from harness.supervisor.identity import harness_record as record; print(record().dirty)"
    says = [sys.executable, "-P", "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    before = subprocess.run(says, cwd=copy, env=environment, capture_output=True, text=True, check=True).stdout
    library = next(copy.glob("racegate__mypyc*"))
    library.write_bytes(library.read_bytes() + b"\n")
    after = subprocess.run(says, cwd=copy, env=environment, capture_output=True, text=True, check=True).stdout
    assert (before.strip(), after.strip()) == ("False", "True")
