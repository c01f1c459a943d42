"""A service that is collected clears its queue, so that nothing keeps the model's memory.
Whoever holds a future of a task that waited there waits for ever.
The twin is kept by its workers until it is closed.
"""

import weakref
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("dropped-with-work-in-flight",)


class Front:
    capabilities = BoundedQueue.capabilities
    workers = BoundedQueue.workers

    def __init__(self, open_session, config):
        self.queue = BoundedQueue(open_session, config)
        weakref.finalize(self, clear, self.queue).atexit = False

    def submit(self, inputs):
        return self.queue.submit(inputs)

    def close(self):
        self.queue.close()


def clear(queue):
    with queue.changed:
        queue.waiting.clear()


specimen, twin = Front, BoundedQueue
