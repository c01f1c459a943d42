"""The input is copied, but by the worker, when it comes to the task.
What the caller writes while the task waits is what runs.
The twin copies in `submit`.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "input-frozen"
SCENARIOS = ("input-overwritten",)


class Late(BoundedQueue):
    def take_over(self, inputs):
        return inputs

    def run(self, session, inputs, future):
        super().run(session, {name: array.copy() for name, array in inputs.items()}, future)


specimen, twin = Late, BoundedQueue
