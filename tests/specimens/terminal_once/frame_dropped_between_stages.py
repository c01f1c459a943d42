"""A stage that finds the one behind it busy drops what was prepared before, so that only the newest is run.
Whoever submitted that frame is never told.
The twin hands everything on, and has the source wait instead.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "pipeline_parts.py"))
StagedQueue = parts["StagedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("pipeline-hands-over", "pipeline-backs-up")


class Newest(StagedQueue):
    def take_prepared(self):
        task = super().take_prepared()
        if task is not None:
            with self.changed:
                while self.prepared:
                    dropped, task = task, self.prepared.popleft()
                    self.free.append(dropped[0])
                self.changed.notify_all()
        return task


specimen, twin = Newest, StagedQueue
