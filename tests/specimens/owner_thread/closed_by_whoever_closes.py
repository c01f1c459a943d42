"""The thread that calls `close` releases the session while its worker is still using it.
A runtime that is bound to its thread, such as one with a GPU context, crashes or leaks.
The twin lets the worker release it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "owner-thread"
SCENARIOS = ("close-during-run",)


class ByCloser(BoundedQueue):
    def open_sessions(self, open_session):
        self.sessions = super().open_sessions(open_session)
        return self.sessions

    def release(self, session):
        pass

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
            sessions, self.sessions = self.sessions, []
        for session in sessions:
            session.close()
        for thread in self.threads:
            thread.join()


specimen, twin = ByCloser, BoundedQueue
