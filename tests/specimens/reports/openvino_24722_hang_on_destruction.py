"""openvinotoolkit/openvino 24722: destroying the object that owns asynchronous requests hangs.
`close` waits for the requests in flight with the lock held that each of them needs to complete.
The twin waits on a condition, which gives the lock away.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "no-deadlock"
SCENARIOS = ("close-during-run",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Condition()
        self.idle = threading.Event()
        self.idle.set()
        self.in_flight = 0
        self.closing = False

    def submit(self, inputs):
        with self.lock:
            if self.closing:
                raise RuntimeError
            self.in_flight += 1
            self.idle.clear()
            future = self.executor.submit(self.session.run, {name: array.copy() for name, array in inputs.items()})
        future.add_done_callback(self.complete)
        return future

    def complete(self, future):
        with self.lock:
            self.in_flight -= 1
            if not self.in_flight:
                self.idle.set()
                self.lock.notify_all()

    def close(self):
        with self.lock:
            self.closing = True
            self.wait()
            if self.session is not None:
                self.session.close()
            self.session = None
        self.executor.shutdown()


class Hanging(Service):
    def wait(self):
        self.idle.wait()


class Waiting(Service):
    def wait(self):
        self.lock.wait_for(lambda: not self.in_flight)


specimen, twin = Hanging, Waiting
