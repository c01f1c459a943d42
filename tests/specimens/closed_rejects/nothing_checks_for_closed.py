"""`submit` never asks whether the service is closed.
A late request is accepted, and its user waits for ever.
The twin refuses it.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
FullError = parts["FullError"]
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "closed-rejects"
SCENARIOS = ("submit-after-close",)


class Ever(BoundedQueue):
    def admit(self):
        if len(self.waiting) >= self.capacity:
            raise FullError


specimen, twin = Ever, BoundedQueue
