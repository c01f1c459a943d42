"""`close` stops the executor without waiting and releases the session.
The call that is in flight works on freed memory.
The twin waits for the executor.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "release-after-drain"
SCENARIOS = ("close-during-run",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Lock()
        self.closed = False

    def submit(self, inputs):
        return self.executor.submit(self.session.run, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        with self.lock:
            self.executor.shutdown(wait=self.waits)
            if not self.closed:
                self.session.close()
            self.closed = True


class AtOnce(Service):
    waits = False


class Drained(Service):
    waits = True


specimen, twin = AtOnce, Drained
