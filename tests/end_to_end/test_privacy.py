"""Nothing that is planted around a failing run is found in a file it wrote."""

import json
import re
import struct

import pytest

from harness.models.reference import resolve

USER, HOST = "zebulon-quill", "kiosk-7731.corner-shop.example"
SERIAL, SECRET = "SN4F9A77C0", "sk-live-51HqPlantedSecret"
ENVIRONMENT = {"USER": USER, "LOGNAME": USER, "HOSTNAME": HOST, "ANDROID_SERIAL": SERIAL, "API_TOKEN": SECRET}
PAYLOAD = re.compile(rb"77123\.\d*[1-9]")
"""Every value of every input is between 77123 and 77124, which the target itself may say."""
RAW = re.compile(b"(?:.." + re.escape(struct.pack("<f", 77123.5)[2:]) + b"){2}", re.DOTALL)
"""Two such values one after the other, as a tensor's bytes have them."""
SERVICE = '''
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from harness.service.queue import SerialQueue


def told(inputs):
    """What an error text may carry: the payload and everything around it."""
    shown = [float(value) for array in inputs.values() for value in np.asarray(array).ravel()]
    return f"{shown} by {os.environ['USER']} on {os.environ['HOSTNAME']}, {os.environ['API_TOKEN']}, {__file__}"


class Talkative:
    """Its errors say everything, and it never closes its session."""

    def __init__(self, open_session):
        self.session, self.executor = open_session(), ThreadPoolExecutor(1)
        print("opened", told({}))

    def submit(self, inputs):
        if any(np.asarray(array).dtype.byteorder == ">" for array in inputs.values()):
            raise ValueError(told(inputs))
        return self.executor.submit(self.run, inputs)

    def run(self, inputs):
        try:
            return self.session.run(inputs)
        except Exception as error:
            raise RuntimeError(told(inputs)) from error

    def close(self):
        self.executor.shutdown()
        raise RuntimeError(told({}))


class Stuck(SerialQueue):
    """Its close waits for a lock that its own thread holds; in its second life it dies."""

    def close(self, *, drain=True):
        import threading

        lock = threading.Lock()
        lock.acquire()
        lock.acquire()


class Escapes(SerialQueue):
    """Its close escapes from control."""

    def close(self, *, drain=True):
        os.read(os.pipe()[0], 1)


class Dies(SerialQueue):
    """Its close ends the process with words."""

    def close(self, *, drain=True):
        os.write(2, told({}).encode())
        os.abort()


def talkative(open_session, config):
    return Talkative(open_session)


stuck, escapes, dies = Stuck, Escapes, Dies
'''
SUITE = """
schema = "suite/1"
id = "private"
version = "1"
scenarios = {scenarios}
budget = {{ executions = 3 }}
[[target]]
name = "planted"
adapter = "numpy"
model = "{home}/model-{user}/permutation.json"
inputs = {{ x = {{ low = 77123.0, high = 77124.0 }} }}
{services}
"""
SCENARIOS = ("many-clients", "input-overwritten", "malformed-input", "run-failure", "close-twice")
SERVICES = ("talkative", "stuck", "dies", "unsafe-shared")


@pytest.fixture
def planted(racegate):
    """Run with everything planted, in a folder `work` beside or below the user's own; returns how it went."""

    def run(*services, scenarios=SCENARIOS, work="work"):
        home = racegate.folder / "home" / USER
        models = home / f"model-{USER}"
        models.mkdir(parents=True)
        (home / "service.py").write_text(SERVICE)
        (models / "permutation.json").write_bytes(resolve("builtin:permutation", (".json",)).data)
        racegate.folder = home / work
        racegate.folder.mkdir()
        named = (f"{home}/service.py:{name}" if name != "unsafe-shared" else name for name in services)
        entries = "\n".join(
            f'[[service]]\nname = "{name}"\nslots = {2 if name == "unsafe-shared" else 1}' for name in named
        )
        suite = SUITE.format(home=home, user=USER, services=entries, scenarios=json.dumps(scenarios))
        (racegate.folder / "s.toml").write_text(suite)
        return racegate("run", "s.toml", "--seed", 1, "--verbose", HOME=str(home), **ENVIRONMENT)

    return run


def planted_in(folder, parent):
    """Whatever was planted and can be found below a folder, with the file it is in."""
    words = [word.encode() for word in (USER, HOST, SERIAL, SECRET, str(parent))]
    found = []
    for path in sorted(folder.rglob("*")):
        text = path.read_bytes() if path.is_file() else b""
        text += path.name.encode()
        found += [(path.name, word) for word in words if word in text]
        found += [(path.name, match) for match in PAYLOAD.findall(text)]
        found += [(path.name, "raw") for _ in RAW.findall(text)]
    return found


def test_a_failing_run_writes_nothing_that_was_planted(planted, tmp_path):
    done = planted(*SERVICES)
    assert done.code == 1, done.text
    verdicts = {predicate["service"]["name"]: predicate["verdict"] for predicate in done.predicates}
    assert verdicts == {
        "service.py:talkative": "FAIL",
        "service.py:stuck": "FAIL",
        "service.py:dies": "FAIL",
        "unsafe-shared": "FAIL",
    }
    written = [path for path in (done.folder / "out").rglob("*") if path.is_file()]
    assert {"report.html", "history.jsonl", "junit.xml", "summary.md", "predicate.json"} <= {
        path.name for path in written
    }
    assert any(path.name.startswith("cell-") for path in written)
    assert planted_in(done.folder / "out", tmp_path) == []


def test_nor_does_one_that_escapes_from_control(planted, tmp_path):
    done = planted("escapes", scenarios=("close-twice",))
    assert done.code == 3, done.text
    assert "uncontrolled" in done.out
    assert planted_in(done.folder / "out", tmp_path) == []


def test_nor_does_a_service_from_somebody_elses_folder(planted, tmp_path):
    done = planted("stuck", scenarios=("close-twice",), work="../../work")
    assert done.code == 1, done.text
    assert planted_in(done.folder / "out", tmp_path) == []
