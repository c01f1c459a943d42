"""The queue takes whatever comes, though a bound is configured.
Under overload requests pile up until the memory is gone, each answered later than the last.
The twin hands the bound to the queue.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "capacity"
SCENARIOS = ("queue-full",)


class Service:
    capabilities = frozenset({"overflow:reject"})

    def __init__(self, open_session, config):
        self.tasks = self.make_queue(config.capacity)
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put_nowait(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
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


class Unbounded(Service):
    def make_queue(self, capacity):
        return Queue()


class Bounded(Service):
    def make_queue(self, capacity):
        return Queue(maxsize=capacity)


specimen, twin = Unbounded, Bounded
