"""Each call is guarded by a lock that was made for it.
It keeps out nobody: two threads run on one session, though the code looks guarded.
The twin's lock belongs to the session.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "one-task-per-session"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Service:
    workers = 2

    def __init__(self, open_session, config):
        self.session = open_session()
        self.lock = threading.Lock()
        self.executor = ThreadPoolExecutor(self.workers)
        self.closed = False

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        with self.guard():
            return self.session.run(inputs)

    def close(self):
        self.executor.shutdown()
        with self.lock:
            if not self.closed:
                self.session.close()
            self.closed = True


class PerCall(Service):
    def guard(self):
        return threading.Lock()


class PerSession(Service):
    def guard(self):
        return self.lock


specimen, twin = PerCall, PerSession
