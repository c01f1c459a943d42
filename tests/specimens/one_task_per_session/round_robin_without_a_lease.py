"""Sessions are handed out in turn, whether or not the one whose turn it is has finished.
A slow task finds another one on its session after one round.
The twin takes the lock of the session whose turn it is.
"""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
open_all = parts["open_all"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("many-clients",)
SLOTS = 2


class RoundRobin:
    workers = 2

    def __init__(self, open_session, config):
        self.sessions = [(session, threading.Lock()) for session in open_all(open_session, self.workers)]
        self.turn = itertools.cycle(self.sessions)
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()

    def submit(self, inputs):
        session, lock = next(self.turn)
        return self.executor.submit(self.run, session, lock, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        self.executor.shutdown()
        with self.closing:
            while self.sessions:
                self.sessions.pop()[0].close()


class Unleased(RoundRobin):
    def run(self, session, lock, inputs):
        return session.run(inputs)


class Leased(RoundRobin):
    def run(self, session, lock, inputs):
        with lock:
            return session.run(inputs)


specimen, twin = Unleased, Leased
