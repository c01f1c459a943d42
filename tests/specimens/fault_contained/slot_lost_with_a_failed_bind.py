"""A session is marked as busy, and as free again once its run has ended well.
After a run that could not even begin it stays busy, and nobody is served.
The twin marks it as free whatever happened.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]
settle = parts["settle"]

INVARIANT = "fault-contained"
SCENARIOS = (
    "bind-failure",
    "mapping-failure",
)


class Marking(BoundedQueue):
    def prepare(self):
        self.busy = False

    def run(self, session, inputs, future):
        with self.changed:
            self.changed.wait_for(lambda: not self.busy)
            self.busy = True
        if future.set_running_or_notify_cancel():
            settle(future, self.use, session, inputs)
        else:
            self.mark_free()

    def use(self, session, inputs):
        try:
            return session.run(inputs)
        finally:
            self.mark_free()

    def mark_free(self):
        with self.changed:
            self.busy = False
            self.changed.notify_all()


class Losing(Marking):
    def use(self, session, inputs):
        outputs = session.run(inputs)
        self.mark_free()
        return outputs


specimen, twin = Losing, Marking
