"""`submit` takes the state lock and then the queue lock, `close` takes them the other way round.
An application that submits while it closes hangs, now and then.
The twin takes them in one order.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "no-deadlock"
SCENARIOS = ("submit-races-close",)


class TwoLocks:
    def __init__(self, open_session, config):
        self.state, self.tasks = threading.Lock(), threading.Lock()
        self.waiting = []
        self.wake = threading.Semaphore(0)
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.state, self.tasks:
            if not self.open:
                raise RuntimeError
            self.waiting.append(({name: array.copy() for name, array in inputs.items()}, future))
        self.wake.release()
        return future

    def serve(self, session):
        while True:
            self.wake.acquire()
            with self.tasks:
                task = self.waiting.pop(0) if self.waiting else None
            if task is None:
                break
            inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        first, second = self.order()
        with first, second:
            if self.open:
                self.waiting.append(None)
                self.wake.release()
            self.open = False
        self.worker.join()


class Crossed(TwoLocks):
    def order(self):
        return self.tasks, self.state


class Straight(TwoLocks):
    def order(self):
        return self.state, self.tasks


specimen, twin = Crossed, Straight
