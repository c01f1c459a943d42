"""A run that fails is tried again a hundred and twenty times, and one that is poisoned fails each time.
So it has the worker for itself, and whoever waits behind it waits as long.
The twin tries three times.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "fault-contained"
SCENARIOS = ("poison-request",)


class Patient(BoundedQueue):
    tries = 3

    def run(self, session, inputs, future):
        super().run(Again(session, self.tries), inputs, future)


class Again:
    """A session that is run again when a run fails."""

    def __init__(self, session, tries):
        self.session = session
        self.tries = tries

    def run(self, inputs):
        tried = 0
        while True:
            tried += 1
            try:
                return self.session.run(inputs)
            except Exception:
                if tried == self.tries:
                    raise


class Stubborn(Patient):
    tries = 120


specimen, twin = Stubborn, Patient
