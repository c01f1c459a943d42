"""A pool puts its session back as soon as the run has ended, and fetches the outputs afterwards.
The next task may have run on the session by then: a user gets its answer.
The twin fetches first.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Pool:
    workers = 2

    def __init__(self, open_session, config):
        self.sessions = LifoQueue()
        self.sessions.put(open_session())
        self.executor = ThreadPoolExecutor(self.workers)
        self.closing = threading.Lock()

    def submit(self, inputs):
        return self.executor.submit(self.run, {name: array.copy() for name, array in inputs.items()})

    def close(self):
        self.executor.shutdown()
        with self.closing:
            while not self.sessions.empty():
                self.sessions.get().close()


class TooEarly(Pool):
    def run(self, inputs):
        session = self.sessions.get()
        try:
            call = session.call(inputs)
            call.bind()
            call.invoke()
        finally:
            self.sessions.put(session)
        return call.fetch()


class AfterFetch(Pool):
    def run(self, inputs):
        session = self.sessions.get()
        try:
            call = session.call(inputs)
            call.bind()
            call.invoke()
            return call.fetch()
        finally:
            self.sessions.put(session)


specimen, twin = TooEarly, AfterFetch
