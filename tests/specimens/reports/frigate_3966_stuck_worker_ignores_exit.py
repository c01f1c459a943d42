"""blakeblackshear/frigate 3966: on exit the application waits for a detector that never looks at the stop signal.
The worker looks at it between two tasks, and sits in a `get` without a time-out.
The twin's `get` returns now and then.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-twice",)


class Detector:
    def __init__(self, open_session, config):
        self.frames = Queue()
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.serve, args=(open_session(),))
        self.thread.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if self.stop.is_set():
                raise RuntimeError
            self.frames.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while not (self.stop.is_set() and self.frames.empty()):
            try:
                inputs, future = self.frames.get(timeout=self.patience)
            except Empty:
                continue
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            self.stop.set()
        self.thread.join()


class Stuck(Detector):
    patience = None


class Looking(Detector):
    patience = 1.0


specimen, twin = Stuck, Looking
