"""The worker releases its session when it ends, and `close` releases all sessions once more.
With a native runtime the second release frees what somebody else may own by then.
The twin leaves it to the worker.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "close-once"
SCENARIOS = ("close-twice",)


class Both(BoundedQueue):
    def open_sessions(self, open_session):
        self.sessions = super().open_sessions(open_session)
        return self.sessions

    def close(self):
        super().close()
        with self.changed:
            sessions, self.sessions = self.sessions, []
        for session in sessions:
            session.close()


specimen, twin = Both, BoundedQueue
