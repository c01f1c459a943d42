"""immich-app/immich 3207: many requests that come first together each load the model.
All find the cache empty; the last load wins, and the others stay in memory for good.
The twin loads under a lock.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "close-once"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Cache:
    workers = 2

    def __init__(self, open_session, config):
        self.open_session = open_session
        self.model = None
        self.loading, self.running = threading.Lock(), threading.Lock()
        self.executor = ThreadPoolExecutor(self.workers)

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def run(self, inputs):
        model = self.load()
        with self.running:
            return model.run(inputs)

    def load_once(self):
        if self.model is None:
            self.model = self.open_session()
        return self.model

    def close(self):
        self.executor.shutdown()
        with self.loading:
            if self.model is not None:
                self.model.close()
            self.model = None


class Racing(Cache):
    def load(self):
        return self.load_once()


class Locked(Cache):
    def load(self):
        with self.loading:
            return self.load_once()


specimen, twin = Racing, Locked
