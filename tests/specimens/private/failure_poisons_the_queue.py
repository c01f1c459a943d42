"""After a failed run everything that waits is failed with the same error.
Users who had nothing to do with it read about the request that failed.
The twin fails that one and goes on.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "private"
SCENARIOS = ("failing-run-with-others-waiting",)


class Poisoned(BoundedQueue):
    def run(self, session, inputs, future):
        super().run(session, inputs, future)
        if future.cancelled() or future.exception() is None:
            return
        with self.changed:
            waiting = [task[1] for task in self.waiting]
            self.waiting.clear()
        for other in waiting:
            if other.set_running_or_notify_cancel():
                other.set_exception(future.exception())


specimen, twin = Poisoned, BoundedQueue
