"""Both stages have one buffer: the next task is prepared in it while the one before waits for its run.
The twin's buffers are more than the stages, and come back when the task has its outcome.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "pipeline_parts.py"))
StagedQueue = parts["StagedQueue"]

INVARIANT = "own-output"
SCENARIOS = ("pipeline-hands-over",)


class OneBuffer(StagedQueue):
    def prepare(self):
        super().prepare()
        self.only = {}

    def has_buffer(self):
        return True

    def take_buffer(self):
        return self.only

    def give_back(self, buffer):
        pass


specimen, twin = OneBuffer, StagedQueue
