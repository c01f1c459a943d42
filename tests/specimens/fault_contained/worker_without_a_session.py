"""A worker whose session does not open logs that, and its half of the requests waits for it.
The application comes up with an old prepared asset, and every other request hangs.
The twin does not come up.
"""

from pathlib import Path
from runpy import run_path

from adapters.base import ModelLoadError

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("prepared-asset-mismatch",)
SLOTS = 2


class Pool(BoundedQueue):
    workers = 2


class HalfOpen(Pool):
    def open_sessions(self, open_session):
        sessions = []
        for _ in range(self.workers):
            try:
                sessions.append(open_session())
            except ModelLoadError:
                sessions.append(None)
        self.turn = 0
        return sessions[::-1]

    def serve(self, session):
        if session is None:
            self.take()
            return
        super().serve(session)


specimen, twin = HalfOpen, Pool
