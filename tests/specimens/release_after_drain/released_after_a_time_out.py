"""`close` gives the worker two seconds and then releases the session, whether the worker is done or not.
With a slow model the session is freed under the call.
The twin releases on the worker, after its last call.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "release-after-drain"
SCENARIOS = ("close-during-run",)


class Forced(BoundedQueue):
    def open_sessions(self, open_session):
        self.sessions = super().open_sessions(open_session)
        return self.sessions

    def release(self, session):
        pass

    def close(self):
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(timeout=2.0)
        with self.changed:
            sessions, self.sessions = self.sessions, []
        for session in sessions:
            session.close()


specimen, twin = Forced, BoundedQueue
