"""A wait that times out gives the session back, though the call is still running on it.
The retry is bound to the same session, on top of the call in flight.
The twin gives it back when the call has returned.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("wait-timeout",)
SLOTS = 2


class Leased(Future):
    give_back = None

    def result(self, timeout=None):
        try:
            return super().result(timeout)
        except TimeoutError:
            if self.give_back is not None:
                self.give_back()
            raise


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.sessions = Queue()
        self.all = [open_session()]
        self.sessions.put(self.all[0])
        self.lock = threading.Lock()
        self.executor = ThreadPoolExecutor(self.workers)

    def submit(self, inputs):
        future = Leased()
        self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()}, future)
        return future

    def run(self, inputs, future):
        session = self.sessions.get()
        once = threading.Lock()

        def give_back():
            if once.acquire(blocking=False):
                self.sessions.put(session)

        if self.times_out:
            future.give_back = give_back
        if future.set_running_or_notify_cancel():
            settle(future, session.run, inputs)
        give_back()

    def close(self):
        self.executor.shutdown()
        with self.lock:
            while self.all:
                self.all.pop().close()


class FreedByTimeout(Pool):
    times_out = True


class FreedByReturn(Pool):
    times_out = False


specimen, twin = FreedByTimeout, FreedByReturn
