"""`close` releases the sessions that lie in the pool, and a busy one is not there.
A session that is in use while the pool closes is never released.
The twin waits for the tasks first.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import LifoQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
open_all = parts["open_all"]

INVARIANT = "close-once"
SCENARIOS = ("close-during-run",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.sessions = LifoQueue()
        for session in open_all(open_session, self.workers):
            self.sessions.put(session)
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        session = self.sessions.get()
        try:
            return session.run(inputs)
        finally:
            self.sessions.put(session)

    def close(self):
        with self.closing:
            self.executor.shutdown(wait=self.waits)
            while not self.sessions.empty():
                self.sessions.get().close()


class Idle(Pool):
    waits = False


class All(Pool):
    waits = True


specimen, twin = Idle, All
