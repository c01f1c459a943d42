"""`close` asks whether it was called before, works, and only then notes that it was.
Two threads that close at once release the session twice: a double free in native code.
The twin decides under a lock that it keeps until all is done.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "close-once"
SCENARIOS = ("close-from-two-threads",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Lock()
        self.closed = False

    def submit(self, inputs):
        return self.executor.submit(self.session.run, {name: array.copy() for name, array in inputs.items()})

    def release(self):
        if not self.closed:
            self.executor.shutdown()
            self.session.close()
            self.closed = True


class Unlocked(Service):
    def close(self):
        self.release()


class Locked(Service):
    def close(self):
        with self.lock:
            self.release()


specimen, twin = Unlocked, Locked
