"""The worker polls for work and looks at a flag that `close` does not set.
The application hangs at exit, with one core busy.
The twin's worker polls as well, and looks at the flag that is set.
"""

import time
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-twice",)


class Polling(BoundedQueue):
    def prepare(self):
        self.stopped = False

    def take(self):
        while True:
            with self.changed:
                if self.waiting:
                    return self.waiting.popleft()
                if self.over():
                    return None
            time.sleep(0)


class Forgotten(Polling):
    def over(self):
        return self.stopped


class Remembered(Polling):
    def over(self):
        return self.closing


specimen, twin = Forgotten, Remembered
