"""Answers are cached under the shapes and types of the inputs, not under what they hold.
The second user gets the first one's answer, at once.
The twin's key holds the bytes as well.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "own-output"
SCENARIOS = ("hidden-state",)


class Cached(BoundedQueue):
    def prepare(self):
        self.answers = {}

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.cached, session, inputs)

    def cached(self, session, inputs):
        key = tuple((name, self.key(array)) for name, array in sorted(inputs.items()))
        if key not in self.answers:
            self.answers[key] = session.run(inputs)
        return {name: array.copy() for name, array in self.answers[key].items()}


class ByShape(Cached):
    def key(self, array):
        return (array.shape, array.dtype.str)


class ByContent(Cached):
    def key(self, array):
        return (array.shape, array.dtype.str, array.tobytes())


specimen, twin = ByShape, ByContent
