"""The worker calls `task_done` when it has taken a task, not when it has run it.
`Queue.join` returns too early, and the session is released under the last call.
The twin calls it when the task has its outcome.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "release-after-drain"
SCENARIOS = ("close-during-run",)


class Joined:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.tasks = Queue()
        self.lock = threading.Lock()
        self.open = True
        threading.Thread(target=self.serve, daemon=True).start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def run(self, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.session.run, inputs)

    def close(self):
        with self.lock:
            first, self.open = self.open, False
            self.tasks.join()
            if first:
                self.session.close()


class Early(Joined):
    def serve(self):
        while True:
            task = self.tasks.get()
            self.tasks.task_done()
            self.run(*task)


class Late(Joined):
    def serve(self):
        while True:
            task = self.tasks.get()
            self.run(*task)
            self.tasks.task_done()


specimen, twin = Early, Late
