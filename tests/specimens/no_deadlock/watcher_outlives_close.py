"""A helper thread waits for an event that `close` does not set.
Every close() returns, and the process never ends: a leaked thread.
The twin sets the event and joins the helper.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-twice",)


class Watched(BoundedQueue):
    def prepare(self):
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def watch(self):
        self.over.wait()


class Forgotten(Watched):
    pass


class Ended(Watched):
    def close(self):
        super().close()
        self.over.set()
        self.watcher.join()


specimen, twin = Forgotten, Ended
