"""A task keeps its place in the queue while it runs.
Clients are refused although the queue has room, and a queue for one serves nobody while it works.
The twin frees the place when a worker takes the task.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from queue import Full

INVARIANT = "capacity"
SCENARIOS = ("queue-full",)


class Service:
    capabilities = frozenset({"overflow:reject"})

    def __init__(self, open_session, config):
        self.session = open_session()
        self.places = threading.Semaphore(config.capacity)
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Lock()
        self.closed = False

    def submit(self, inputs):
        if not self.places.acquire(blocking=False):
            raise Full
        try:
            future = self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})
        except RuntimeError:
            self.places.release()
            raise
        future.add_done_callback(self.free_cancelled)
        return future

    def free_cancelled(self, future):
        if future.cancelled():
            self.places.release()

    def close(self):
        self.executor.shutdown()
        with self.lock:
            if not self.closed:
                self.session.close()
            self.closed = True


class Running(Service):
    def run(self, inputs):
        try:
            return self.session.run(inputs)
        finally:
            self.places.release()


class Waiting(Service):
    def run(self, inputs):
        self.places.release()
        return self.session.run(inputs)


specimen, twin = Running, Waiting
