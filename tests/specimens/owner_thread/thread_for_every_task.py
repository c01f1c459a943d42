"""Every task gets a thread of its own that waits until a plain flag says that the session is free.
Nothing orders the uses, and two threads may see it free at once.
The twin passes the session on under a lock.
"""

import threading
import time
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "owner-thread"
SCENARIOS = ("many-clients",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.lock = threading.Lock()
        self.turn = threading.Lock()
        self.busy = False
        self.threads = []

    def submit(self, inputs):
        future = Future()
        copy = {name: array.copy() for name, array in inputs.items()}
        thread = threading.Thread(target=self.run, args=(copy, future))
        with self.lock:
            if self.session is None:
                raise RuntimeError
            self.threads.append(thread)
            thread.start()
        return future

    def run(self, inputs, future):
        self.acquire()
        if future.set_running_or_notify_cancel():
            settle(future, self.session.run, inputs)
        self.free()

    def close(self):
        with self.lock:
            for thread in self.threads:
                thread.join()
            if self.session is not None:
                self.session.close()
            self.session = None


class Flag(Service):
    def acquire(self):
        while self.busy:
            time.sleep(0.001)
        self.busy = True

    def free(self):
        self.busy = False


class Lock(Service):
    def acquire(self):
        self.turn.acquire()

    def free(self):
        self.turn.release()


specimen, twin = Flag, Lock
