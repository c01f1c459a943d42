"""A worker puts a task back that the other one is to run, and each of two tasks is said to be the other worker's.
The tasks go round for ever: a livelock, though every worker is busy.
The twin's worker runs what it has put back once.
"""

import threading
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "no-deadlock"
SCENARIOS = ("many-clients",)
SLOTS = 2


class Sticky(BoundedQueue):
    """Keeps each worker at the kind of task that it has run last, to save the reload."""

    workers = 2

    def prepare(self):
        self.kind_of = {}
        self.passed = set()

    def take(self):
        while (task := super().take()) is not None:
            with self.changed:
                kind = sum(float(array.sum()) for array in task[0].values())
                mine = self.kind_of.setdefault(threading.current_thread(), kind)
                if mine == kind or self.runs_anyway(task[1]):
                    return task
                self.waiting.append(task)
                self.changed.notify_all()
        return None


class Stubborn(Sticky):
    def runs_anyway(self, future):
        return False


class Yielding(Sticky):
    def runs_anyway(self, future):
        known = id(future) in self.passed
        self.passed.add(id(future))
        return known


specimen, twin = Stubborn, Yielding
