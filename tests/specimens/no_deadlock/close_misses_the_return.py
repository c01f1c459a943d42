"""`close()` sees a call in flight, then makes ready to be told of its return, and waits for that.
A call that returns between the two has told nobody, and the close waits for ever.
The twin makes ready before it looks.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("close-during-run",)


class Missing(BoundedQueue):
    def prepare(self):
        self.in_flight = False
        self.returned = threading.Event()

    def run(self, session, inputs, future):
        self.in_flight = True
        super().run(session, inputs, future)
        self.in_flight = False
        self.returned.set()

    def close(self):
        self.await_return()
        super().close()

    def await_return(self):
        if self.in_flight:
            self.returned.clear()
            self.returned.wait()


class MakingReady(Missing):
    def await_return(self):
        self.returned.clear()
        if self.in_flight:
            self.returned.wait()


specimen, twin = Missing, MakingReady
