"""A request's number is how many are pending, so a number comes round while its first bearer still waits.
One user gets another's answer, and the other waits for ever.
The twin counts up.
"""

import itertools
import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)


class Numbered:
    workers = 1

    def __init__(self, open_session, config):
        self.lock = threading.Lock()
        self.pending = {}
        self.counter = itertools.count()
        self.tasks = Queue()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            number = self.number()
            self.pending[number] = future
            self.tasks.put((number, {name: array.copy() for name, array in inputs.items()}))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            number, inputs = task
            run = Future()
            settle(run, session.run, inputs)
            with self.lock:
                future = self.pending.pop(number)
            if future.set_running_or_notify_cancel():
                settle(future, run.result)
        session.close()

    def close(self):
        with self.lock:
            if self.open:
                self.tasks.put(None)
            self.open = False
        self.worker.join()


class Reused(Numbered):
    def number(self):
        return len(self.pending)


class Unique(Numbered):
    def number(self):
        return next(self.counter)


specimen, twin = Reused, Unique
