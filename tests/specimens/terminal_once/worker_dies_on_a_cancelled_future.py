"""The worker does not ask whether a task was cancelled, and `set_result` raises on one that was.
After one cancel nobody is served any more.
The twin asks `set_running_or_notify_cancel`.
"""

import queue
import threading
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("cancel-races-completion",)


class Textbook:
    capabilities = frozenset({"overflow:reject"})

    def __init__(self, open_session, config):
        self.tasks = queue.Queue(config.capacity)
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put_nowait(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            if self.may_run(future):
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            first, self.open = self.open, False
        if first:
            self.tasks.put(None)
        self.worker.join()


class Careless(Textbook):
    def may_run(self, future):
        return True


class Careful(Textbook):
    def may_run(self, future):
        return future.set_running_or_notify_cancel()


specimen, twin = Careless, Careful
