"""Cancelling a running task puts its output buffer back, and the run that still goes on writes into it.
The task that got the buffer next delivers the answer of the cancelled one.
The twin leaves the buffer with the run until it has returned.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
RunningCancelFuture = parts["RunningCancelFuture"]
CancellingQueue = parts["CancellingQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]

INVARIANT = "own-output"
SCENARIOS = ("cancel-while-running",)
SLOTS = 2


class Buffered(RunningCancelFuture):
    def __init__(self, service):
        super().__init__()
        self.service = service
        with service.changed:
            self.buffer = service.buffers.pop() if service.buffers else {}

    def free(self):
        with self.service.changed:
            if self.buffer is not None:
                self.service.buffers.append(self.buffer)
            self.buffer = None


class FreedByCancel(Buffered):
    def cancel(self):
        if super().cancel():
            self.free()
            return True
        return False


class Queue(CancellingQueue):
    workers = 2

    def prepare(self):
        self.buffers = []

    def run(self, session, inputs, future):
        buffer = future.buffer
        if future.start():
            settle_unless_cancelled(future, self.infer, session, inputs, buffer)
        future.free()

    def infer(self, session, inputs, buffer):
        buffer.update(session.run(inputs))
        with self.changed:
            return {name: array.copy() for name, array in buffer.items()}


class Freeing(Queue):
    def make_future(self):
        return FreedByCancel(self)


class Holding(Queue):
    def make_future(self):
        return Buffered(self)


specimen, twin = Freeing, Holding
