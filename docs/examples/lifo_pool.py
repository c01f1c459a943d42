"""A pool of sessions in a `queue.LifoQueue`: callers' tasks borrow the one that was used last, while it is warm.

racegate run --service docs/examples/lifo_pool.py:factory
"""

from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue

SIZE = 2


class LifoPool:
    def __init__(self, open_session):
        self._sessions = LifoQueue()
        for _ in range(SIZE):
            self._sessions.put(open_session())
        self._executor = ThreadPoolExecutor(max_workers=SIZE)

    def submit(self, inputs):
        copy = {name: array.copy() for name, array in inputs.items()}
        return self._executor.submit(self._run, copy)

    def _run(self, inputs):
        session = self._sessions.get()
        try:
            return session.run(inputs)
        finally:
            self._sessions.put(session)

    def close(self):
        self._executor.shutdown(wait=True)
        while not self._sessions.empty():
            self._sessions.get().close()


def factory(open_session, config):
    return LifoPool(open_session)


factory.workers = SIZE
