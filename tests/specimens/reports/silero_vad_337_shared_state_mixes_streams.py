"""snakers4/silero-vad 337: one model object serves several streams and keeps the state of whichever came last.
Feeding a stream and running it are two calls; each is guarded, and the pair is not.
The twin guards the pair.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Detector:
    workers = 2

    def __init__(self, open_session, config):
        self.model = open_session()
        self.state = None
        self.lock = threading.RLock()
        self.executor = ThreadPoolExecutor(self.workers)

    def submit(self, inputs):
        return self.executor.submit(self.detect, {name: array.copy() for name, array in inputs.items()})

    def feed(self, inputs):
        with self.lock:
            self.state = inputs

    def infer(self):
        with self.lock:
            return self.model.run(self.state)

    def close(self):
        self.executor.shutdown()
        with self.lock:
            if self.model is not None:
                self.model.close()
            self.model = None


class TwoCalls(Detector):
    def detect(self, inputs):
        self.feed(inputs)
        return self.infer()


class OnePair(Detector):
    def detect(self, inputs):
        with self.lock:
            self.feed(inputs)
            return self.infer()


specimen, twin = TwoCalls, OnePair
