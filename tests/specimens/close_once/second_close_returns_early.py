"""A second close sees that the first has begun and returns at once.
Whoever called it goes on to unload the library under a session that is still open.
The twin's second close waits for the first.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "close-once"
SCENARIOS = ("close-from-two-threads",)


class Textbook:
    def __init__(self, open_session, config):
        self.tasks = Queue()
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

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
        session.close()

    def begin_closing(self):
        with self.lock:
            first, self.open = self.open, False
            if first:
                self.tasks.put(None)
        return first


class Early(Textbook):
    def close(self):
        if self.begin_closing():
            self.worker.join()


class Waiting(Textbook):
    def close(self):
        self.begin_closing()
        self.worker.join()


specimen, twin = Early, Waiting
