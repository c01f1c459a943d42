"""python/cpython 87893: futures that an executor's shutdown cancels never wake whoever waits for them.
The service's handles wait with `concurrent.futures.wait`, and hang when an aborting close cancels what is queued.
The twin's handles wait on the future itself, which its cancel does wake.
"""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

INVARIANT = "terminal-once"
SCENARIOS = ("close-during-run-aborted",)


class Handle:
    def __init__(self, future):
        self.future = future
        self.cancel, self.cancelled, self.done = future.cancel, future.cancelled, future.done
        self.exception = future.exception


class WaitHandle(Handle):
    def result(self, timeout=None):
        if not wait([self.future], timeout).done:
            raise TimeoutError
        return self.future.result()


class ResultHandle(Handle):
    def result(self, timeout=None):
        return self.future.result(timeout)


class Service:
    capabilities = frozenset({"drain"})

    def __init__(self, open_session, config):
        self.session = open_session()
        self.executor = ThreadPoolExecutor(1)
        self.lock = threading.Lock()

    def submit(self, inputs):
        copy = {name: array.copy() for name, array in inputs.items()}
        return self.handle(self.executor.submit(self.session.run, copy))

    def close(self, *, drain=True):
        self.executor.shutdown(wait=True, cancel_futures=not drain)
        with self.lock:
            if self.session is not None:
                self.session.close()
            self.session = None


class Asleep(Service):
    handle = WaitHandle


class Awake(Service):
    handle = ResultHandle


specimen, twin = Asleep, Awake
