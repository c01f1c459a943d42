"""tensorflow/tensorflow 26365: one interpreter serves every thread of a web server.
Each request runs on a thread of its own, on the one interpreter, and requests mix.
The twin gives the interpreter to one request at a time.
"""

import threading
from concurrent.futures import Future
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
settle = parts["settle"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("many-clients",)


class Server:
    def __init__(self, open_session, config):
        self.interpreter = open_session()
        self.lock = threading.Lock()
        self.turn = threading.Lock()
        self.requests = []

    def submit(self, inputs):
        future = Future()
        copy = {name: array.copy() for name, array in inputs.items()}
        request = threading.Thread(target=self.handle, args=(copy, future))
        with self.lock:
            if self.interpreter is None:
                raise RuntimeError
            self.requests.append(request)
            request.start()
        return future

    def answer(self, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.interpreter.run, inputs)

    def close(self):
        with self.lock:
            for request in self.requests:
                request.join()
            if self.interpreter is not None:
                self.interpreter.close()
            self.interpreter = None


class AllAtOnce(Server):
    workers = 4

    def handle(self, inputs, future):
        self.answer(inputs, future)


class InTurn(Server):
    def handle(self, inputs, future):
        with self.turn:
            self.answer(inputs, future)


specimen, twin = AllAtOnce, InTurn
