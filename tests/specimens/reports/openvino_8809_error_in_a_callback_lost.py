"""openvinotoolkit/openvino 8809: what is raised inside a completion callback reaches nobody.
The callback that hands over the answer raises for a failed run, and the client's future never ends.
The twin hands over the error as well.
"""

import contextlib
import threading
from concurrent.futures import Future, ThreadPoolExecutor

INVARIANT = "terminal-once"
SCENARIOS = ("run-failure",)


class Service:
    def __init__(self, open_session, config):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Lock()

    def submit(self, inputs):
        future = Future()
        run = self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()}, future)
        run.add_done_callback(lambda done: self.hand_over(done, future))
        return future

    def run(self, inputs, future):
        return self.session.run(inputs) if future.set_running_or_notify_cancel() else None

    def close(self):
        self.executor.shutdown()
        with self.lock:
            if self.session is not None:
                self.session.close()
            self.session = None


class Lost(Service):
    def hand_over(self, done, future):
        with contextlib.suppress(Exception):
            outputs = done.result()
            if outputs is not None:
                future.set_result(outputs)


class Handed(Service):
    def hand_over(self, done, future):
        if future.cancelled():
            return
        if done.exception() is not None:
            future.set_exception(done.exception())
        else:
            future.set_result(done.result())


specimen, twin = Lost, Handed
