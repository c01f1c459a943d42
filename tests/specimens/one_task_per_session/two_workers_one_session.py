"""Two workers take from one queue and run on the same session.
One user's input is overwritten by the other's while it runs.
The twin opens a session for each worker.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]
open_all = parts["open_all"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Service:
    workers = 2

    def __init__(self, open_session, config):
        self.tasks = SimpleQueue()
        self.lock = threading.Lock()
        self.open = True
        self.sessions = self.open_sessions(open_session)
        each = self.sessions * (self.workers // len(self.sessions))
        self.threads = [threading.Thread(target=self.serve, args=(session,)) for session in each]
        for thread in self.threads:
            thread.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)

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


class Shared(Service):
    def open_sessions(self, open_session):
        return [open_session()]


class Isolated(Service):
    def open_sessions(self, open_session):
        return open_all(open_session, self.workers)


specimen, twin = Shared, Isolated
