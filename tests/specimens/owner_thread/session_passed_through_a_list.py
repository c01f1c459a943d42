"""Sessions pass from worker to worker through a plain list, with nothing that orders one's last use before the next's.
On hardware with weak ordering the second thread may read what the first had not yet written.
The twin passes them through a queue.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import LifoQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
open_all = parts["open_all"]

INVARIANT = "owner-thread"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.free = self.make_free_list(open_all(open_session, self.workers))
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()
        self.left = self.workers

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        session = self.take()
        try:
            return session.run(inputs)
        finally:
            self.put(session)

    def close(self):
        self.executor.shutdown()
        with self.closing:
            while self.left:
                self.take().close()
                self.left -= 1


class Listed(Pool):
    make_free_list = list

    def take(self):
        return self.free.pop()

    def put(self, session):
        self.free.append(session)


class Queued(Pool):
    def make_free_list(self, sessions):
        free = LifoQueue()
        for session in sessions:
            free.put(session)
        return free

    def take(self):
        return self.free.get()

    def put(self, session):
        self.free.put(session)


specimen, twin = Listed, Queued
