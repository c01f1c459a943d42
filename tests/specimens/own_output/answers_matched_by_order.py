"""Two workers finish in any order, and each answer goes to the future that has waited longest.
Users swap answers as soon as a later task overtakes an earlier one.
The twin carries the future along with the inputs.
"""

import threading
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]
open_all = parts["open_all"]

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.tasks = SimpleQueue()
        self.pending = deque()
        self.lock = threading.Lock()
        self.done = threading.Event()
        self.threads = [
            threading.Thread(target=self.serve, args=(session,)) for session in open_all(open_session, self.workers)
        ]
        for thread in self.threads:
            thread.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if self.threads is None:
                raise RuntimeError
            self.pending.append(future)
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            run = Future()
            settle(run, session.run, inputs)
            with self.lock:
                chosen = self.whose(future)
                self.pending.remove(chosen)
            if chosen.set_running_or_notify_cancel():
                settle(chosen, run.result)
        session.close()

    def close(self):
        with self.lock:
            threads, self.threads = self.threads or (), None
            for _ in threads:
                self.tasks.put(None)
        for thread in threads:
            thread.join()
        self.closed_by(threads)

    def closed_by(self, threads):
        """Let whoever closes again wait for the first."""
        if threads:
            self.done.set()
        else:
            self.done.wait()


class ByOrder(Pool):
    def whose(self, future):
        return self.pending[0]


class ByTask(Pool):
    def whose(self, future):
        return future


specimen, twin = ByOrder, ByTask
