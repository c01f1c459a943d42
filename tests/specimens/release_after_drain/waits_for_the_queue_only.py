"""`close` waits until nothing waits, and takes that for nothing running.
The last task's session is released while its call is in flight.
The twin counts a task until it has its outcome.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "release-after-drain"
SCENARIOS = ("close-during-run",)


class Counting:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.changed = threading.Condition()
        self.waiting = []
        self.running = 0
        self.closing = False
        threading.Thread(target=self.serve, daemon=True).start()

    def submit(self, inputs):
        future = Future()
        with self.changed:
            if self.closing:
                raise RuntimeError
            self.waiting.append(({name: array.copy() for name, array in inputs.items()}, future))
            self.changed.notify_all()
        return future

    def serve(self):
        while True:
            with self.changed:
                while not self.waiting:
                    self.changed.wait()
                inputs, future = self.waiting.pop(0)
                self.running = 1
                self.changed.notify_all()
            if future.set_running_or_notify_cancel():
                settle(future, self.session.run, inputs)
            with self.changed:
                self.running = 0
                self.changed.notify_all()

    def close(self):
        with self.changed:
            self.closing = True
            while self.busy():
                self.changed.wait()
            if self.session is not None:
                self.session.close()
            self.session = None


class QueueOnly(Counting):
    def busy(self):
        return self.waiting


class QueueAndRun(Counting):
    def busy(self):
        return self.waiting or self.running


specimen, twin = QueueOnly, QueueAndRun
