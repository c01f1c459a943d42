"""The worker clears its wake-up event after it has emptied the queue.
A task that comes in between is not seen: its user waits until the next one submits.
The twin clears first and looks then.
"""

import threading
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "terminal-once"
SCENARIOS = ("hidden-state",)


class EventQueue:
    def __init__(self, open_session, config):
        self.tasks = deque()
        self.lock = threading.Lock()
        self.wake = threading.Event()
        self.closing = False
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if self.closing:
                raise RuntimeError
            self.tasks.append(({name: array.copy() for name, array in inputs.items()}, future))
        self.wake.set()
        return future

    def work_off(self, session):
        while self.tasks:
            inputs, future = self.tasks.popleft()
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)

    def close(self):
        with self.lock:
            self.closing = True
        self.wake.set()
        self.worker.join()


class ClearedLate(EventQueue):
    def serve(self, session):
        while not self.closing:
            self.wake.wait()
            self.work_off(session)
            self.wake.clear()
        self.work_off(session)
        session.close()


class ClearedFirst(EventQueue):
    def serve(self, session):
        closing = False
        while not closing:
            self.wake.wait()
            self.wake.clear()
            closing = self.closing
            self.work_off(session)
        session.close()


specimen, twin = ClearedLate, ClearedFirst
