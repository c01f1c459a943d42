"""pytorch/serve 2333: a full job queue holds up whoever submits, where an answer "busy" is promised.
The queue's `put` waits for room, on the thread that should go on accepting connections.
The twin answers at once.
"""

import queue
import threading
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "capacity"
SCENARIOS = ("queue-full",)


class Frontend:
    capabilities = frozenset({"overflow:reject"})

    def __init__(self, open_session, config):
        self.jobs = queue.Queue(config.capacity)
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            self.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while job := self.jobs.get():
            inputs, future = job
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            first, self.open = self.open, False
        if first:
            self.jobs.put(None)
        self.worker.join()


class Blocking(Frontend):
    def put(self, job):
        self.jobs.put(job)


class Answering(Frontend):
    def put(self, job):
        self.jobs.put_nowait(job)


specimen, twin = Blocking, Answering
