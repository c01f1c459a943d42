"""An idle worker gives up after a while, and `submit` may have put a task just before it is gone.
The task waits until the next submit starts another worker: its user waits for ever.
The twin's worker retires under the lock, and only if nothing waits.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("hidden-state",)


class OnDemand:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.tasks = Queue()
        self.lock = threading.Lock()
        self.worker = None
        self.open = True

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
            if self.worker is None:
                self.worker = threading.Thread(target=self.serve)
                self.worker.start()
        return future

    def serve(self):
        while True:
            try:
                inputs, future = self.tasks.get(timeout=1.0)
            except Empty:
                if self.retire():
                    return
                continue
            if future.set_running_or_notify_cancel():
                settle(future, self.session.run, inputs)

    def close(self):
        with self.lock:
            self.open = False
            worker = self.worker
        if worker is not None:
            worker.join()
        with self.lock:
            if self.session is not None:
                self.session.close()
            self.session = None


class Careless(OnDemand):
    def retire(self):
        with self.lock:
            self.worker = None
        return True


class Careful(OnDemand):
    def retire(self):
        with self.lock:
            if self.tasks.empty():
                self.worker = None
            return self.worker is None


specimen, twin = Careless, Careful
