"""The session is opened by the first task, on the CPU path if the delegate fails then.
The service looks healthy at start, and runs on something else than it was set up for.
The twin makes the failure the task's outcome.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "delegate-truth"
SCENARIOS = ("delegate-init-failure",)


class Lazy:
    def __init__(self, open_session, config):
        self.open_session = open_session
        self.session = None
        self.lock = threading.Lock()
        self.executor = ThreadPoolExecutor(1)

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        with self.lock:
            if self.session is None:
                self.session = self.load()
            return self.session.run(inputs)

    def close(self):
        self.executor.shutdown()
        with self.lock:
            if self.session is not None:
                self.session.close()
            self.session = None


class FallingBack(Lazy):
    def load(self):
        try:
            return self.open_session()
        except Exception:  # noqa: BLE001 - as the specimen has it
            return self.open_session(fallback=True)


class Failing(Lazy):
    def load(self):
        return self.open_session()


specimen, twin = FallingBack, Failing
