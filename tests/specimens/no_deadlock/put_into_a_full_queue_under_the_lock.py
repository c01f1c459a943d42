"""`submit` waits for room in a full queue while it holds the lock that the worker needs to finish a task.
Under load everything stands still.
The twin puts outside the lock.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "no-deadlock"
SCENARIOS = ("many-clients",)


class Service:
    def __init__(self, open_session, config):
        self.tasks = Queue(maxsize=1)
        self.lock = threading.Lock()
        self.served = 0
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()
        self.closing = threading.Lock()
        self.open = True

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, self.infer, session, inputs)
        session.close()

    def infer(self, session, inputs):
        outputs = session.run(inputs)
        with self.lock:
            self.served += 1
        return outputs

    def close(self):
        with self.closing:
            if self.open:
                self.tasks.put(None)
            self.open = False
        self.worker.join()


class Inside(Service):
    def submit(self, inputs):
        future = Future()
        with self.closing:
            if not self.open:
                raise RuntimeError
            with self.lock:
                self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future


class Outside(Service):
    def submit(self, inputs):
        future = Future()
        with self.closing:
            if not self.open:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future


specimen, twin = Inside, Outside
