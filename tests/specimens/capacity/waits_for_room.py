"""A full queue makes `submit` wait for room instead of refusing.
The application's own threads stand still while the device is busy.
The twin refuses at once.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Full, SimpleQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "capacity"
SCENARIOS = ("queue-full",)


class Service:
    capabilities = frozenset({"overflow:reject"})

    def __init__(self, open_session, config):
        self.places = threading.BoundedSemaphore(config.capacity)
        self.tasks = SimpleQueue()
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        self.reserve()
        future = Future()
        with self.lock:
            if not self.open:
                self.places.release()
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            self.places.release()
            inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            first, self.open = self.open, False
        if first:
            self.tasks.put(None)
        self.worker.join()


class Waiting(Service):
    def reserve(self):
        self.places.acquire()


class Refusing(Service):
    def reserve(self):
        if not self.places.acquire(blocking=False):
            raise Full


specimen, twin = Waiting, Refusing
