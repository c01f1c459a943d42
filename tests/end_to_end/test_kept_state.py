"""A service that keeps something between executions is neither passed nor blamed for what it would not do afresh."""

import pytest

SERVICE = '''
import queue
import threading
from concurrent.futures import Future

KEPT = {}
TASKS = queue.Queue()


class Service:
    def __init__(self, session):
        self.session = session

    def close(self):
        self.session.close()


class Remembers(Service):
    """Answers from memory what was asked before, in whatever execution."""

    def submit(self, inputs):
        key = tuple(array.tobytes() for array in inputs.values())
        future = Future()
        if key not in KEPT:
            KEPT[key] = self.session.run(inputs)
        future.set_result({name: array.copy() for name, array in KEPT[key].items()})
        return future


class SharesAWorker(Service):
    """One worker for every service of the process: it ends with the execution that started it."""

    def submit(self, inputs):
        if not KEPT:
            KEPT["worker"] = threading.Thread(target=work, daemon=True)
            KEPT["worker"].start()
        future = Future()
        TASKS.put((future, self.session, inputs))
        return future


def work():
    while True:
        future, session, inputs = TASKS.get()
        future.set_result(session.run(inputs))


def remembers(open_session, config):
    return Remembers(open_session())


def shares_a_worker(open_session, config):
    return SharesAWorker(open_session())
'''


@pytest.mark.parametrize("name", ["remembers", "shares_a_worker"])
def test_kept_state_is_unknown_and_said(racegate, name):
    (racegate.folder / "service.py").write_text(SERVICE)
    scenarios = ("--scenario", "many-clients", "--scenario", "outputs-kept", "--executions", 10, "--seed", 1)
    done = racegate("run", "--target", "numpy", "--service", f"service.py:{name}", *scenarios)
    assert done.code == 3, done.text
    assert done.verdicts == {"many-clients": "UNKNOWN", "outputs-kept": "UNKNOWN"}
    assert "kept from one execution to the next" in " ".join(done.out.split())
