"""A polling worker looks at the stop flag before it looks at the queue.
What waits when the service closes is never run, and its users wait for ever.
The twin stops only when the queue is empty as well.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("close-from-two-threads",)


class Polling:
    def __init__(self, open_session, config):
        self.tasks = Queue()
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if self.stop.is_set():
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while not self.may_stop():
            try:
                inputs, future = self.tasks.get(timeout=0.1)
            except Empty:
                continue
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            self.stop.set()
        self.worker.join()


class Hasty(Polling):
    def may_stop(self):
        return self.stop.is_set()


class Patient(Polling):
    def may_stop(self):
        return self.stop.is_set() and self.tasks.empty()


specimen, twin = Hasty, Patient
