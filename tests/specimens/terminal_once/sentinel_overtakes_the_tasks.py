"""The sentinel has the highest priority, so that it comes out before the tasks that wait.
Users whose tasks waited when the service closed wait for ever.
The twin gives it the lowest.
"""

import itertools
import math
import threading
from concurrent.futures import Future
from pathlib import Path
from queue import PriorityQueue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("close-from-two-threads",)


class Prioritised:
    def __init__(self, open_session, config):
        self.tasks = PriorityQueue()
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            copy = {name: array.copy() for name, array in inputs.items()}
            self.tasks.put((next(self.numbers), copy, future))
        return future

    def serve(self, session):
        while (task := self.tasks.get())[1] is not None:
            _, inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            if self.open:
                self.tasks.put((self.last, None, None))
            self.open = False
        self.worker.join()


class First(Prioritised):
    last = 0


class Last(Prioritised):
    last = math.inf


specimen, twin = First, Last
