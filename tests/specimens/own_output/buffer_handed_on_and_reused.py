"""The first stage takes its buffer back when it has handed it on: the next task is written over the one before.
Two buffers in turn are one too few when the second stage is slow.
The twin's buffers come back when the task has its outcome.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "pipeline_parts.py"))
StagedQueue = parts["StagedQueue"]

INVARIANT = "own-output"
SCENARIOS = ("pipeline-hands-over",)


class InTurn(StagedQueue):
    def prepare(self):
        super().prepare()
        self.turn = [{}, {}]

    def has_buffer(self):
        return True

    def take_buffer(self):
        self.turn.reverse()
        return self.turn[0]

    def give_back(self, buffer):
        pass


specimen, twin = InTurn, StagedQueue
