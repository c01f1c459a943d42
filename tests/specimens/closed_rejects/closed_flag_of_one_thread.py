"""Whether the service is closed is kept in a thread-local.
The thread that closed it knows; every other one is still served promises, and waits for ever.
The twin keeps it on the service.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "closed-rejects"
SCENARIOS = ("submit-races-close",)


class Flag:
    closed = False


class LocalFlag(threading.local):
    closed = False


class Service:
    def __init__(self, open_session, config):
        self.tasks = Queue()
        self.lock = threading.Lock()
        self.flag = self.make_flag()
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if self.flag.closed:
                raise RuntimeError
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            if future.set_running_or_notify_cancel():
                settle(future, session.run, inputs)
        session.close()

    def close(self):
        with self.lock:
            self.flag.closed = True
            self.tasks.put(None)
        self.worker.join()


class PerThread(Service):
    make_flag = LocalFlag


class Shared(Service):
    make_flag = Flag


specimen, twin = PerThread, Shared
