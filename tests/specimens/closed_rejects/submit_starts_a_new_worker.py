"""A service that starts its worker on demand starts it again after close.
Whoever closed it to free the device finds the model loaded again.
The twin remembers that it was closed.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "closed-rejects"
SCENARIOS = ("submit-after-close",)


class OnDemand:
    def __init__(self, open_session, config):
        self.open_session = open_session
        self.lock = threading.Lock()
        self.session = self.executor = None
        self.closed = False

    def submit(self, inputs):
        with self.lock:
            self.check()
            if self.executor is None:
                self.session = self.open_session()
                self.executor = ThreadPoolExecutor(1)
            return self.executor.submit(self.session.run, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        with self.lock:
            self.closed = True
            if self.executor is not None:
                self.executor.shutdown()
                self.session.close()
            self.session = self.executor = None


class Reopening(OnDemand):
    def check(self):
        pass


class Closed(OnDemand):
    def check(self):
        if self.closed:
            raise RuntimeError


specimen, twin = Reopening, Closed
