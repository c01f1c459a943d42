"""A failed run is taken for fatal, and the worker calls `sys.exit`, which ends its thread and nothing else.
The process lives on, and everybody who submits waits for ever.
The twin makes the error the task's outcome.
"""

import sys
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("run-failure",)


class Exiting(BoundedQueue):
    def run(self, session, inputs, future):
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(session.run(inputs))
        except Exception:  # noqa: BLE001 - as the specimen has it
            sys.exit(1)


specimen, twin = Exiting, BoundedQueue
