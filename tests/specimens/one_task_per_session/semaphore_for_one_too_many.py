"""The semaphore in front of the pool has one permit more than there are sessions.
Whoever comes in on the last permit shares a session with somebody.
The twin has as many permits as sessions.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.sessions = [open_session()]
        self.permits = threading.Semaphore(len(self.sessions) + self.extra)
        self.tasks = SimpleQueue()
        self.lock = threading.Lock()
        self.open = True
        self.threads = [threading.Thread(target=self.serve) for _ in range(self.workers)]
        for thread in self.threads:
            thread.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self):
        while task := self.tasks.get():
            inputs, future = task
            with self.permits:
                if future.set_running_or_notify_cancel():
                    settle(future, self.sessions[0].run, inputs)

    def close(self):
        with self.lock:
            if self.open:
                for _ in self.threads:
                    self.tasks.put(None)
            self.open = False
        for thread in self.threads:
            thread.join()
        with self.lock:
            while self.sessions:
                self.sessions.pop().close()


class OneTooMany(Pool):
    extra = 1


class JustEnough(Pool):
    extra = 0


specimen, twin = OneTooMany, JustEnough
