"""A worker picks a slot that is not busy, and marks it busy after it has noted the lease.
Two workers pick the same slot.
The twin picks and marks in one hold of the lock.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Slot:
    def __init__(self, session):
        self.session = session
        self.busy = False


class Pool(BoundedQueue):
    workers = 2

    def prepare(self):
        self.lock = threading.Lock()
        self.leases = 0
        self.slots = []

    def open_sessions(self, open_session):
        sessions = super().open_sessions(open_session)
        self.slots = [Slot(session) for session in sessions]
        return sessions

    def run(self, session, inputs, future):
        slot = self.lease()
        super().run(slot.session, inputs, future)
        with self.lock:
            slot.busy = False

    def close(self):
        super().close()
        with self.lock:
            for slot in self.slots:
                slot.session.close()
            self.slots = []

    def release(self, session):
        pass


class TwoSteps(Pool):
    def lease(self):
        slot = next(slot for slot in self.slots if not slot.busy)
        with self.lock:
            self.leases += 1
        slot.busy = True
        return slot


class OneStep(Pool):
    def lease(self):
        with self.lock:
            slot = next(slot for slot in self.slots if not slot.busy)
            self.leases += 1
            slot.busy = True
            return slot


specimen, twin = TwoSteps, OneStep
