"""Each task takes a scratch buffer and a session; the warm path takes them in the opposite order.
Two workers each hold what the other one needs.
The twin takes the session first on both paths.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Service(BoundedQueue):
    workers = 2

    def prepare(self):
        self.device, self.scratch = threading.Semaphore(1), threading.Semaphore(1)
        self.warm = False

    def run(self, session, inputs, future):
        first, second = self.order()
        with first, second:
            self.warm = True
            super().run(session, inputs, future)


class Crossed(Service):
    def order(self):
        return (self.scratch, self.device) if self.warm else (self.device, self.scratch)


class Straight(Service):
    def order(self):
        return self.device, self.scratch


specimen, twin = Crossed, Straight
