"""When the delegate does not start, all slots get the one fallback session that was opened first.
On the day the device is missing, users get each other's answers.
The twin opens a fallback session for each slot.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "one-task-per-session"
SCENARIOS = ("delegate-init-fallback",)
SLOTS = 2


class Pool(BoundedQueue):
    capabilities = frozenset({"overflow:reject", "fallback"})
    workers = 2

    def __init__(self, open_session, config):
        self.prefers = config.delegate == "prefer"
        super().__init__(open_session, config)

    def open_sessions(self, open_session):
        self.shared = None
        try:
            return super().open_sessions(open_session)
        except Exception:
            if not self.prefers:
                raise
            return self.fall_back(open_session)


class Shared(Pool):
    def fall_back(self, open_session):
        return [open_session(fallback=True)] * self.workers

    def release(self, session):
        with self.changed:
            if self.shared is None:
                self.shared = session
                return
        session.close()


class Separate(Pool):
    def fall_back(self, open_session):
        return [open_session(fallback=True) for _ in range(self.workers)]


specimen, twin = Shared, Separate
