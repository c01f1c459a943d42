"""The first stage prepares whatever comes, in a new buffer where none is free, and empties the queue as it fills.
When the second stage is stuck nobody is held back, until the memory is full.
The twin has as many buffers as it began with.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "pipeline_parts.py"))
StagedQueue = parts["StagedQueue"]

INVARIANT = "capacity"
SCENARIOS = ("pipeline-backs-up",)


class Endless(StagedQueue):
    def has_buffer(self):
        return True

    def take_buffer(self):
        return self.free.pop() if self.free else {}


specimen, twin = Endless, StagedQueue
