"""A bounded queue made by hand from one `threading.Condition` and a deque.

racegate run --service docs/examples/condition_queue.py:factory
"""

import threading
from collections import deque
from concurrent.futures import Future


class ConditionQueue:
    def __init__(self, open_session, capacity):
        self._open_session = open_session
        self._capacity = capacity
        self._tasks = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._worker = threading.Thread(target=self._serve)
        self._worker.start()

    def submit(self, inputs):
        future = Future()
        copy = {name: array.copy() for name, array in inputs.items()}
        with self._changed:
            if self._closing:
                raise RuntimeError("closed")
            if len(self._tasks) >= self._capacity:
                raise RuntimeError("busy")
            self._tasks.append((copy, future))
            self._changed.notify()
        return future

    def _serve(self):
        session = self._open_session()
        while True:
            with self._changed:
                while not self._tasks and not self._closing:
                    self._changed.wait()
                if not self._tasks:
                    break
                inputs, future = self._tasks.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(session.run(inputs))
                except Exception as error:
                    future.set_exception(error)
        session.close()

    def close(self):
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._worker.join()


def factory(open_session, config):
    return ConditionQueue(open_session, config.capacity)


factory.capabilities = {"overflow:reject"}
