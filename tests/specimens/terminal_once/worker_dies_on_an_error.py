"""The first failing run ends the worker thread.
Its user waits for ever, and so does everybody after.
The twin makes the error the task's outcome and goes on.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("run-failure",)


class Unguarded(BoundedQueue):
    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            future.set_result(session.run(inputs))


specimen, twin = Unguarded, BoundedQueue
