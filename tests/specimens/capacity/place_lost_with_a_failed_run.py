"""A task's place is given back when its run succeeds, and lost when it fails.
After as many failures as there are places every client is refused, with an empty queue.
The twin gives it back either way.
"""

import threading
from concurrent.futures import Future
from queue import Full, SimpleQueue

INVARIANT = "capacity"
SCENARIOS = ("failing-run-with-others-waiting",)


class Service:
    capabilities = frozenset({"overflow:reject"})

    def __init__(self, open_session, config):
        self.places = threading.Semaphore(config.capacity + 1)
        self.tasks = SimpleQueue()
        self.lock = threading.Lock()
        self.open = True
        self.worker = threading.Thread(target=self.serve, args=(open_session(),))
        self.worker.start()

    def submit(self, inputs):
        future = Future()
        with self.lock:
            if not self.open:
                raise RuntimeError
            if not self.places.acquire(blocking=False):
                raise Full
            self.tasks.put(({name: array.copy() for name, array in inputs.items()}, future))
        return future

    def serve(self, session):
        while task := self.tasks.get():
            inputs, future = task
            if not future.set_running_or_notify_cancel():
                self.places.release()
                continue
            try:
                outputs = session.run(inputs)
            except Exception as error:  # noqa: BLE001 - a failed run is its task's outcome
                self.free_failed()
                future.set_exception(error)
            else:
                self.places.release()
                future.set_result(outputs)
        session.close()

    def close(self):
        with self.lock:
            first, self.open = self.open, False
        if first:
            self.tasks.put(None)
        self.worker.join()


class Losing(Service):
    def free_failed(self):
        pass


class Keeping(Service):
    def free_failed(self):
        self.places.release()


specimen, twin = Losing, Keeping
