"""`submit` reads the accept flag without the lock, so that its task can land behind the sentinel.
A user who submits while the service closes waits for ever.
The twin reads the flag and puts the task under one lock.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("submit-races-close",)


class Textbook:
    def __init__(self, open_session, config):
        self.tasks = Queue()
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def put(self, inputs):
        if not self.open:
            raise RuntimeError
        future = Future()
        self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def close(self):
        with self.lock:
            if self.open:
                self.open = False
                self.tasks.put(None)
        self.worker.join()


class Unlocked(Textbook):
    def submit(self, inputs):
        return self.put(inputs)


class Locked(Textbook):
    def submit(self, inputs):
        with self.lock:
            return self.put(inputs)


specimen, twin = Unlocked, Locked
