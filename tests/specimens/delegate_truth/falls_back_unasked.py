"""When the delegate does not start the service opens the plain CPU path by itself.
Users get slow answers, and nobody knows that the device is not in use.
The twin passes the error on.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "delegate-truth"
SCENARIOS = ("delegate-init-failure",)


class Silent(BoundedQueue):
    def open_sessions(self, open_session):
        try:
            return super().open_sessions(open_session)
        except Exception:  # noqa: BLE001 - as the specimen has it
            return [open_session(fallback=True) for _ in range(self.workers)]


specimen, twin = Silent, BoundedQueue
