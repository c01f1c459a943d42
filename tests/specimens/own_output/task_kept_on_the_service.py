"""The task that runs is kept on the service, where two workers overwrite each other's.
A user gets another user's answer, or none at all.
The twin keeps it in a local name of the worker.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "own-output"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Attribute(BoundedQueue):
    workers = 2

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            self.current = future
            outputs = session.run(inputs)
            self.current.set_result(outputs)


class Local(BoundedQueue):
    workers = 2


specimen, twin = Attribute, Local
