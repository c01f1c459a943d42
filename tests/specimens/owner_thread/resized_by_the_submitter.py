"""The client's thread resizes the session when it submits a task of another shape, so that the worker need not.
A run that is on at that moment has its tensors taken away.
The twin leaves it to the worker, which binds the task when the one before is through.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "shape_parts.py"))
ShapedQueue = parts["ShapedQueue"]

INVARIANT = "owner-thread"
SCENARIOS = ("resize-races-a-run",)
MODEL = "builtin:rows"


class Submitter(ShapedQueue):
    def open_sessions(self, open_session):
        sessions = super().open_sessions(open_session)
        self.session = sessions[0]
        return sessions

    def submit(self, inputs):
        self.check(inputs)
        self.session.resize({name: array.shape for name, array in inputs.items()})
        return super().submit(inputs)


specimen, twin = Submitter, ShapedQueue
