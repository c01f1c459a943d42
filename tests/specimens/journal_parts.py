"""An honest queue with work that must finish: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import hashlib
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parent / "parts.py"))
BoundedQueue = parts["BoundedQueue"]


class JournalledQueue(BoundedQueue):
    """One worker; what must finish is in the journal before it is accepted, and finished before anybody hears."""

    capabilities = frozenset({"classes", "journal", "overflow:reject"})

    def __init__(self, open_session, config):
        self.journal = config.journal
        super().__init__(open_session, config)

    def submit(self, inputs, *, request_class="default", payload_ref=None):
        """Accept one task, or raise the journal's error, ClosedError or FullError."""
        del request_class
        taken, future = self.take_over(inputs), self.make_future()
        future.payload_ref = payload_ref
        self.enter(taken, future)
        try:
            with self.changed:
                self.admit()
                self.waiting.append((taken, future))
                self.changed.notify()
        except Exception:
            self.withdraw(future)
            raise
        return future

    def enter(self, taken, future):
        """Note that the task is about to be accepted."""
        if future.payload_ref is not None:
            self.journal.accepted(future.payload_ref, digest(taken))

    def withdraw(self, future):
        """Note that it was not accepted after all."""
        if future.payload_ref is not None:
            self.journal.released(future.payload_ref, forget=True)

    def run(self, session, inputs, future):
        """Give one task its outcome."""
        if not future.set_running_or_notify_cancel():
            return
        try:
            outputs, error = session.run(inputs), None
        except Exception as failure:  # noqa: BLE001 - a failed run is its task's outcome
            outputs, error = None, failure
        self.end(future, outputs, error)

    def end(self, future, outputs, error):
        """Note the end, and tell the client."""
        self.finish(future)
        if error is None:
            future.set_result(outputs)
        else:
            future.set_exception(error)

    def finish(self, future):
        """Note that the task has run."""
        if future.payload_ref is not None:
            self.journal.finished(future.payload_ref)


def digest(arrays):
    """What the inputs are known by."""
    return hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays))).hexdigest()
