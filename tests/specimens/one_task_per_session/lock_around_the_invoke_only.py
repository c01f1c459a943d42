"""A lock guards the native call, and binding and fetching happen outside it.
Another task binds its input between this one's bind and its invoke.
The twin holds the lock from bind to fetch.
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
        self.executor = ThreadPoolExecutor(self.workers)
        self.lock = threading.Lock()
        self.closed = False

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        self.executor.shutdown()
        with self.lock:
            if not self.closed:
                self.session.close()
            self.closed = True


class InvokeOnly(Service):
    def run(self, inputs):
        call = self.session.call(inputs)
        call.bind()
        with self.lock:
            call.invoke()
        return call.fetch()


class WholeRun(Service):
    def run(self, inputs):
        with self.lock:
            return self.session.run(inputs)


specimen, twin = InvokeOnly, WholeRun
