"""A worker without a session answers with zeros, so that the application keeps running.
Users take them for answers of the model.
The twin does not start.
"""

from pathlib import Path
from runpy import run_path

import numpy as np

parts = run_path(str(Path(__file__).parents[1] / "parts.py"))
BoundedQueue = parts["BoundedQueue"]

INVARIANT = "delegate-truth"
SCENARIOS = ("delegate-init-failure",)


class Null:
    def run(self, inputs):
        return {name: np.zeros_like(array) for name, array in inputs.items()}

    def close(self):
        pass


class Pretending(BoundedQueue):
    def open_sessions(self, open_session):
        try:
            return super().open_sessions(open_session)
        except Exception:  # noqa: BLE001 - as the specimen has it
            return [Null() for _ in range(self.workers)]


specimen, twin = Pretending, BoundedQueue
