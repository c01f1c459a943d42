"""An honest queue that several clients of one model share: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parent / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
ClosedError = parts["ClosedError"]


class Shared:
    """A queue and how many clients it has."""

    def __init__(self):
        self.lock = threading.Lock()
        self.clients = 0
        self.queue = None


class ResidentQueue:
    """A client of the queue that is there, or the first one of a new queue."""

    capabilities = BoundedQueue.capabilities | {"residency"}
    workers = BoundedQueue.workers

    def __init__(self, open_session, config):
        self.left = False
        self.shared = self.find(config)
        with self.shared.lock:
            if self.shared.queue is None:
                self.shared.queue = BoundedQueue(open_session, config)
            self.shared.clients += 1
        self.queue = self.shared.queue

    def find(self, config):
        """What the clients of the model share: kept with the residents, where there are any."""
        residents = getattr(config, "residents", None)
        return Shared() if residents is None else vars(residents).setdefault("shared", Shared())

    def submit(self, inputs):
        """Submit to the queue, unless this client has left."""
        if self.left:
            raise ClosedError
        return self.queue.submit(inputs)

    def close(self):
        """Leave; the last one closes the queue, and whoever leaves then waits for that."""
        with self.shared.lock:
            if not self.left:
                self.left = True
                self.leave()

    def leave(self):
        """Count this client out, under the lock."""
        self.shared.clients -= 1
        if self.shared.clients == 0:
            self.queue.close()
