"""A session goes back to the pool where a run fails, and once more in `finally`.
After one failure two tasks get the same session.
The twin puts it back in `finally` alone.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import LifoQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
open_all = parts["open_all"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("failing-run-with-others-waiting",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.sessions = LifoQueue()
        self.all = open_all(open_session, self.workers)
        for session in self.all:
            self.sessions.put(session)
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        self.executor.shutdown()
        with self.closing:
            while self.all:
                self.all.pop().close()


class Twice(Pool):
    def run(self, inputs):
        session = self.sessions.get()
        try:
            return session.run(inputs)
        except Exception:
            self.sessions.put(session)
            raise
        finally:
            self.sessions.put(session)


class Once(Pool):
    def run(self, inputs):
        session = self.sessions.get()
        try:
            return session.run(inputs)
        finally:
            self.sessions.put(session)


specimen, twin = Twice, Once
