"""An honest queue that looks at the memory: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parent / "parts.py"))
CancellingQueue = parts["CancellingQueue"]


class NoMemoryError(Exception):
    """There is no memory for another request now."""

    refusal = "unhealthy"
    retry_after = 1.0


class GatedQueue(CancellingQueue):
    """One worker; a request is live from its admission until its native call has returned, or it never will be made."""

    capabilities = frozenset({"memory-gate", "overflow:reject", "running_cancel"})

    def __init__(self, open_session, config):
        self.memory = getattr(config, "memory", None)
        self.rules = getattr(config, "gate", None)
        self.live = set()
        super().__init__(open_session, config)

    def make_future(self):
        """Make a future that gives up its place when it is cancelled while it waits."""
        future = super().make_future()
        future.add_done_callback(self.ended)
        return future

    def ended(self, future):
        """Free what a task had that never ran."""
        if future.cancel_kind == "queued":
            self.free(future)

    def free(self, future):
        """The task needs no memory any more."""
        with self.changed:
            self.live.discard(future)

    def admit(self):
        """Refuse, under the lock, what there is no place or no memory for."""
        super().admit()
        if self.memory is not None and len(self.live) >= self.most_live():
            raise NoMemoryError

    def most_live(self):
        """How many requests the memory allows now."""
        reading = self.memory.read()
        return self.rules.capacity_at(reading.used / reading.limit)

    def submit(self, inputs):
        """Accept one task, or raise NoMemoryError, ClosedError or FullError."""
        taken, future = self.take_over(inputs), self.make_future()
        with self.changed:
            self.admit()
            self.live.add(future)
            self.waiting.append((taken, future))
            self.changed.notify()
        return future

    def run(self, session, inputs, future):
        """Run unless cancelled; the memory is free afterwards."""
        super().run(session, inputs, future)
        self.free(future)
