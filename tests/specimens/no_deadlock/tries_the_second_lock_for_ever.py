"""One worker takes the device first, the other one the scratch buffer, and each tries the second one again and again.
Both then try for ever: a livelock, with every core busy and no task done.
The twin's workers take them in one order.
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
        self.device, self.scratch = threading.Lock(), threading.Lock()

    def open_sessions(self, open_session):
        self.sessions = super().open_sessions(open_session)
        return self.sessions

    def run(self, session, inputs, future):
        first, second = self.order(session)
        with first:
            while not second.acquire(blocking=False):
                pass
            try:
                super().run(session, inputs, future)
            finally:
                second.release()


class Crossed(Service):
    def order(self, session):
        locks = self.device, self.scratch
        return locks if session is self.sessions[0] else reversed(locks)


class Straight(Service):
    def order(self, session):
        return self.device, self.scratch


specimen, twin = Crossed, Straight
