"""`close` puts one sentinel for two workers.
One of them waits for ever, and `close` waits for it.
The twin's worker passes the sentinel on.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]
open_all = parts["open_all"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-twice",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.tasks = SimpleQueue()
        self.lock = threading.Lock()
        self.open = True
        self.threads = [
            threading.Thread(target=self.serve, args=(session,)) for session in open_all(open_session, self.workers)
        ]
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
        self.after_sentinel()
        session.close()

    def close(self):
        with self.lock:
            if self.open:
                self.tasks.put(None)
            self.open = False
        for thread in self.threads:
            thread.join()


class Swallowed(Pool):
    def after_sentinel(self):
        pass


class PassedOn(Pool):
    def after_sentinel(self):
        self.tasks.put(None)


specimen, twin = Swallowed, PassedOn
