"""All workers write into one output buffer and copy the answer out of it a moment later.
Under load a user sees the answer of whoever wrote last.
The twin copies from what its own run returned.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Queue(BoundedQueue):
    workers = 2

    def prepare(self):
        self.buffer = {}
        self.served = 0
        self.count = threading.Lock()

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.infer, session, inputs)

    def infer(self, session, inputs):
        buffer = self.buffer_for(session)
        buffer.update(session.run(inputs))
        with self.count:
            self.served += 1
        return {name: array.copy() for name, array in buffer.items()}


class OneBuffer(Queue):
    def buffer_for(self, session):
        return self.buffer


class BufferEach(Queue):
    def buffer_for(self, session):
        return {}


specimen, twin = OneBuffer, BufferEach
