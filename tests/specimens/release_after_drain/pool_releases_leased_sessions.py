"""The pool keeps a list of all its sessions and releases every one of them at close, leased or not.
A client's call is in flight on one of them.
The twin takes each session out of the pool before it releases it.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
open_all = parts["open_all"]

INVARIANT = "release-after-drain"
SCENARIOS = ("close-during-run",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.all = open_all(open_session, self.workers)
        self.free = Queue()
        for session in self.all:
            self.free.put(session)
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        session = self.free.get()
        try:
            return session.run(inputs)
        finally:
            self.free.put(session)

    def close(self):
        with self.closing:
            self.release()
            self.all = []
            self.executor.shutdown()


class Everything(Pool):
    def release(self):
        for session in self.all:
            session.close()


class Returned(Pool):
    def release(self):
        self.executor.shutdown()
        for _ in self.all:
            self.free.get().close()


specimen, twin = Everything, Returned
