"""To leave no user's data in memory, `close` wipes the buffers it remembers: the delivered arrays.
A user who still holds an answer holds zeros.
The twin wipes only what it never gave away.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "output-owned"
SCENARIOS = ("outputs-kept",)


class Wiping(BoundedQueue):
    def prepare(self):
        self.remembered = []

    def run(self, session, inputs, future):
        if future.set_running_or_notify_cancel():
            settle(future, self.infer, session, inputs)

    def infer(self, session, inputs):
        outputs = session.run(inputs)
        self.remembered += self.to_wipe(outputs)
        return outputs

    def close(self):
        super().close()
        for array in self.remembered:
            array[...] = 0


class Given(Wiping):
    def to_wipe(self, outputs):
        return outputs.values()


class Kept(Wiping):
    def to_wipe(self, outputs):
        return [array.copy() for array in outputs.values()]


specimen, twin = Given, Kept
