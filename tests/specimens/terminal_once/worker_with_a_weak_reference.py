"""The worker holds the service by a weak reference, so that one which nobody closed can be collected.
It looks for it before it looks into the queue, and leaves what waits there to nobody.
The twin's worker goes on until the queue is empty.
"""

import weakref
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "terminal-once"
SCENARIOS = ("dropped-with-work-in-flight",)


class Weak(BoundedQueue):
    def __init__(self, open_session, config):
        self.own = weakref.ref(self)
        super().__init__(open_session, config)

    @property
    def serve(self):
        return Worker(self.own, self.changed, self.waiting).serve


class Worker:
    def __init__(self, owner, changed, waiting):
        self.owner = owner
        self.changed = changed
        self.waiting = waiting

    def serve(self, session):
        while self.owner() is not None:
            with self.changed:
                if not self.waiting and not getattr(self.owner(), "closing", True):
                    self.changed.wait(1.0)
                task = self.waiting.popleft() if self.waiting else None
            if task is not None:
                parts["BoundedQueue"].run(None, session, *task)
            elif getattr(self.owner(), "closing", True):
                break
        session.close()


specimen, twin = Weak, BoundedQueue
