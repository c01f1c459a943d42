"""A keep-alive thread runs the model now and then so that the device does not fall asleep, without asking the worker.
Its run lands on top of a user's.
The twin lets the worker make the keep-alive run when nothing waits.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "owner-thread"
SCENARIOS = ("hidden-state",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.lock = threading.Lock()
        self.last = None
        self.executor = ThreadPoolExecutor(1)
        self.stop = threading.Event()
        self.keeper = threading.Thread(target=self.keep_alive)
        self.keeper.start()

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        with self.lock:
            outputs = self.session.run(inputs)
            self.last = {name: array + 1 for name, array in inputs.items()}
            return outputs

    def keep_alive(self):
        while not self.stop.wait(10.0):
            if self.last is not None:
                self.touch()

    def close(self):
        self.stop.set()
        self.keeper.join()
        self.executor.shutdown()
        with self.lock:
            if self.session is not None:
                self.session.close()
            self.session = None


class Beside(Service):
    def touch(self):
        self.session.run(self.last)


class Within(Service):
    def touch(self):
        with self.lock:
            self.session.run(self.last)


specimen, twin = Beside, Within
