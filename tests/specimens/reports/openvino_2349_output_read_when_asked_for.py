"""openvinotoolkit/openvino 2349: with several requests under way, an output no longer belongs to its input.
The answer is read from the request's own buffer when the client asks, and the request may have run again by then.
The twin takes it when the run completes.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
open_all = parts["open_all"]

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Request:
    def __init__(self, session):
        self.session = session
        self.outputs = {}

    def infer(self, inputs):
        self.outputs = self.session.run(inputs)
        return self.outputs


class Handle:
    """A client's future over a request of the pool."""

    def __init__(self, inner):
        self.inner = inner
        self.cancel, self.cancelled, self.done = inner.cancel, inner.cancelled, inner.done

    def exception(self, timeout=None):
        return self.inner.exception(timeout)

    def result(self, timeout=None):
        return self.read(*self.inner.result(timeout))


class WhenAsked(Handle):
    def read(self, request, outputs):
        return dict(request.outputs)


class WhenCompleted(Handle):
    def read(self, request, outputs):
        return outputs


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.requests = Queue()
        for session in open_all(open_session, self.workers):
            self.requests.put(Request(session))
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()

    def submit(self, inputs):
        return self.handle(self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()}))

    def run(self, inputs):
        request = self.requests.get()
        try:
            return request, request.infer(inputs)
        finally:
            self.requests.put(request)

    def close(self):
        self.executor.shutdown()
        with self.closing:
            while not self.requests.empty():
                self.requests.get().session.close()


class Lazy(Pool):
    handle = WhenAsked


class Eager(Pool):
    handle = WhenCompleted


specimen, twin = Lazy, Eager
